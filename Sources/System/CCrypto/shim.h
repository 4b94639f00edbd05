#ifndef ENGAGE_CCRYPTO_SHIM_H
#define ENGAGE_CCRYPTO_SHIM_H

// Without this the calls of each hash are deprecated in favor of EVP, which allocates a context for every hash; ids are made from
// one for every record and one for every event.
#define OPENSSL_API_COMPAT 0x10100000L

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/md5.h>
#include <openssl/sha.h>

#endif
