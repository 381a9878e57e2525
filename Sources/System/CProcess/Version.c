#include "CProcess.h"

static const char version[] = {
#embed "../../../VERSION"
    , 0};

const char *lenticular_version(void) { return version; }
