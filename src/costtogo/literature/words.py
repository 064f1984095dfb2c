"""The words of verdicts, and the kinds of numbers that data/reported names."""

REPRODUCED, BETTER, WORSE = "reproduced", "better", "worse"
NOT_REACHED, NOT_RUN, NOT_COMPARABLE = "not reached", "not run", "not comparable"
SOURCE_ERRS, CANNOT_TELL, NOT_JUDGED = "source errs", "cannot tell", "not judged"
VERDICTS = (
    *(REPRODUCED, BETTER, WORSE, NOT_REACHED, NOT_RUN, NOT_COMPARABLE),
    *(SOURCE_ERRS, CANNOT_TELL, NOT_JUDGED),
)
RESULT, CLAIM, FACT, COST, SETTING = KINDS = ("result", "claim", "fact", "cost", "setting")
HELD = (REPRODUCED, BETTER)
DECIDED = (*HELD, WORSE, NOT_REACHED)
