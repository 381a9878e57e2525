#include "CNetwork.h"
