#pragma once
#include "crypto.h"
#include "tls.h"
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
