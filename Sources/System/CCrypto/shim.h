#ifndef ENGAGE_CCRYPTO_SHIM_H
#define ENGAGE_CCRYPTO_SHIM_H

// Without this, the functions of each hash are deprecated in favor of EVP, which allocates a context for
// every hash. Every record and every event needs a hash for its id.
#define OPENSSL_API_COMPAT 0x10100000L

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/md5.h>
#include <openssl/sha.h>

#endif
