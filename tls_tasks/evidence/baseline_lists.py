"""Keywords of domains and cues of attribute values, written for the keyword baseline.

In a list a star stands for any letters at a word's begin or end; other words stand for themselves. Cues are words or
phrases.
"""

from __future__ import annotations

from collections.abc import Mapping

_COMPLAINTS = (
    "ache* aching pain* hurt* sore* cramp* headache* migraine* backache* nause* queasy vomit* sick* dizz* fever* "
    "cough* sneez* wheez* itch* rash* swell* swollen numb numbness stiff* tight* tired* fatigue* heartburn bloat* "
    "palpitation* trembl* shak* sweat* tender* bleed* weakness diarrh* constipat* insomnia blister* burning"
)

KEYWORDS: Mapping[str, str] = {
    "symptom": f"{_COMPLAINTS} asleep throat symptom*",
    "food": "ate eat* eaten drank drink* sipped breakfast lunch dinner supper snack* meal* coffee tea water wine beer "
    "alcohol juice milk bread toast* rice pasta soup salad* stew curry egg* cheese sandwich* cake* chocolate sugar "
    "fruit banana* apple* berries yoghurt yogurt porridge oatmeal fish meat chicken pizza* honey takeaway dal",
    "emotion": "happy sad angry anxious worr* afraid scared frighten* terrif* panic* calm* relax* content relieved "
    "lonely bored irritable irritat* annoyed furious proud thrilled excited hopeful hopeless cheerful tearful cried "
    "cry* grumpy stressed nervous tense upset uneasy shaken guilty ashamed glad grateful empty mood",
    "mind": "focus* concentrat* attention memory remember* forgot* forget* thought* think* mind brain head "
    "clear-headed foggy alert distract* scattered confus* overwhelm* dream* dreamt nightmare* brood* overthink",
    "SIGN_SYMPTOM": f"{_COMPLAINTS} breath dyspn* photophobia *uria *algia oedema edema murmur mass lesion* loss",
    "DISEASE_DISORDER": "*itis *oma *osis *emia *aemia disease* disorder* syndrome* diabetes hypertension infection* "
    "infarction cancer stenosis failure fracture* pneumonia sepsis tumour* tumor*",
    "DIAGNOSTIC_PROCEDURE": "*graphy *gram *scopy *metry biopsy biopsies examination test* scan* mri ct x-ray* "
    "ultrasound culture* puncture haemoglobin hemoglobin troponin creatinine protein temperature pressure",
    "LAB_VALUE": "normal negative positive elevated mg/* g/* ng/* µg/* mmol/* cells/* mmhg °c bpm */µl",
    "MEDICATION": "*cillin *mycin *azole *olol *pril *sartan *statin *prazole *formin *triaxone *sone *solone *prine "
    "aspirin insulin heparin warfarin paracetamol ibuprofen morphine steroid* antibiotic* chemotherapy",
    "THERAPEUTIC_PROCEDURE": "*ectomy *plasty *stomy surgery resection transplant* ventilation dialysis radiotherapy "
    "stent* placement drainage transfusion nutrition intubation fitting",
}
"""Domain -> its keywords. The first four are those of journals, the others entity types of MACCROBAT."""

CUES: Mapping[str, tuple[str, ...]] = {
    "absent": (
        *("no", "not", "none", "never", "nothing", "without", "zero", "skipped", "isn't", "wasn't", "don't", "didn't"),
        *("haven't", "hasn't"),
    ),
    "uncertain": (
        *("maybe", "perhaps", "possibly", "probably", "might", "may have", "could be", "i think", "i guess"),
        *("don't know", "not sure", "seemed"),
    ),
    "low": (
        "slight",
        "slightly",
        "mild",
        "a little",
        "a bit",
        "faint",
        "small",
        "half",
        "light",
        "few",
        "dull",
        "calm",
    ),
    "medium": ("moderate", "medium", "somewhat", "rather", "reasonably", "ordinary", "two", "nagging", "uneasy"),
    "high": (
        *("very", "severe", "terrible", "huge", "large", "big", "pounding", "sharp", "absolutely", "full", "so", "bad"),
        *("too much", "completely", "violent", "three", "racing", "furious", "terrified", "thrilled", "panic"),
    ),
}
"""Value of an attribute -> what in a clause speaks for it."""

SENTENCE_CUES: Mapping[str, tuple[str, ...]] = {
    "last_night": ("last night", "in the night"),
    "past_week": ("this week", "all week", "past week", "last week", "whole week", "seven days", "since monday"),
}
"""The same for cues that hold for a whole sentence."""

OUTER_WORDS = frozenset(
    "a i i'm i've me my and or but so to at on in of the was were is am had have has felt feel feeling got made with "
    "for from by that this it after before while until then today morning evening".split()
)
"""Words that a quote neither begins nor ends with."""
