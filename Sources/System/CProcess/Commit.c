#include "CProcess.h"

#if !defined(LENTICULAR_COMMIT)
#define LENTICULAR_COMMIT ""
#endif

const char *lenticular_commit(void) { return LENTICULAR_COMMIT; }
