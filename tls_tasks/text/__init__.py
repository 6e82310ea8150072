"""What moves ROUGE: tokenisers, the stemmer, the word lists."""
