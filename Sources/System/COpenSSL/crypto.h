#pragma once
// The one-shot digest structures are plain values that can be copied: a prepared MAC key costs a copy
// of 112 bytes where the EVP interface allocates and fetches for each message.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct lenticular_hmac_sha256 {
    SHA256_CTX inner, outer;
};

/// Prepares both halves of HMAC-SHA256 (RFC 2104) for a key of any length.
static inline void lenticular_hmac_sha256_prepare(
    struct lenticular_hmac_sha256 *prepared, const uint8_t *key, size_t keyByteCount) {
    uint8_t block[64] = {0}, padded[64];
    if (keyByteCount > sizeof block) {
        SHA256(key, keyByteCount, block);
    } else if (keyByteCount > 0) {
        memcpy(block, key, keyByteCount);
    }
    for (size_t at = 0; at < sizeof block; at++) padded[at] = block[at] ^ 0x36;
    SHA256_Init(&prepared->inner);
    SHA256_Update(&prepared->inner, padded, sizeof padded);
    for (size_t at = 0; at < sizeof block; at++) padded[at] = block[at] ^ 0x5c;
    SHA256_Init(&prepared->outer);
    SHA256_Update(&prepared->outer, padded, sizeof padded);
    OPENSSL_cleanse(block, sizeof block);
    OPENSSL_cleanse(padded, sizeof padded);
}

/// Writes the 32 bytes of the message's code.
static inline void lenticular_hmac_sha256(
    const struct lenticular_hmac_sha256 *prepared, const void *message, size_t byteCount,
    uint8_t *code) {
    SHA256_CTX context = prepared->inner;
    SHA256_Update(&context, message, byteCount);
    SHA256_Final(code, &context);
    context = prepared->outer;
    SHA256_Update(&context, code, 32);
    SHA256_Final(code, &context);
}

/// The public key of a SubjectPublicKeyInfo in DER, or null when it is not one to the last byte.
static inline EVP_PKEY *lenticular_public_key_from_der(const uint8_t *der, size_t byteCount) {
    const uint8_t *at = der;
    EVP_PKEY *key = d2i_PUBKEY(NULL, &at, (long)byteCount);
    if (key != NULL && at != der + byteCount) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    ERR_clear_error();
    return key;
}

static inline EVP_PKEY *lenticular_private_key_from_der(const uint8_t *der, size_t byteCount) {
    const uint8_t *at = der;
    EVP_PKEY *key = d2i_AutoPrivateKey(NULL, &at, (long)byteCount);
    if (key != NULL && at != der + byteCount) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    ERR_clear_error();
    return key;
}

/// Whether the key is on the named curve prime256v1.
static inline int lenticular_key_is_p256(EVP_PKEY *key) {
    char name[32];
    size_t length = 0;
    return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
           EVP_PKEY_get_group_name(key, name, sizeof name, &length) == 1 &&
           strcmp(name, "prime256v1") == 0;
}

static inline EVP_PKEY *lenticular_p256_generate(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "prime256v1");
}

/// 1 when the signature is the key's over the message's SHA-256: ECDSA in strict DER, or PKCS #1 v1.5
/// for a key of RSA.
static inline int lenticular_sha256_verify(
    EVP_PKEY *key, const uint8_t *signature, size_t signatureByteCount, const uint8_t *message,
    size_t messageByteCount) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int isValid = context != NULL &&
                  EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
                  EVP_DigestVerify(
                      context, signature, signatureByteCount, message, messageByteCount) == 1;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    return isValid;
}

/// Writes the signature in DER; its length, or 0 when it could not be made or is over the room.
static inline size_t lenticular_p256_sign(
    EVP_PKEY *key, const uint8_t *message, size_t messageByteCount, uint8_t *signature,
    size_t room) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t length = room;
    int isMade =
        context != NULL && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
        EVP_DigestSign(context, signature, &length, message, messageByteCount) == 1;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    return isMade ? length : 0;
}

/// Writes the 32 bytes that both owners of these keys on P-256 can compute; 1 when that is done.
static inline int lenticular_p256_agree(EVP_PKEY *own, EVP_PKEY *other, uint8_t *secret) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(own, NULL);
    size_t length = 32;
    int isMade = context != NULL && EVP_PKEY_derive_init(context) == 1 &&
                 EVP_PKEY_derive_set_peer(context, other) == 1 &&
                 EVP_PKEY_derive(context, secret, &length) == 1 && length == 32;
    EVP_PKEY_CTX_free(context);
    ERR_clear_error();
    return isMade;
}

/// Writes the 20 bytes of HMAC-SHA1; 1 when that is done.
static inline int lenticular_hmac_sha1(
    const uint8_t *key, size_t keyByteCount, const uint8_t *message, size_t messageByteCount,
    uint8_t *code) {
    static const uint8_t none[1];
    unsigned int length = 0;
    return keyByteCount <= INT32_MAX &&
           HMAC(EVP_sha1(), keyByteCount > 0 ? key : none, (int)keyByteCount, message,
                messageByteCount, code, &length) != NULL &&
           length == 20;
}

/// Writes the SubjectPublicKeyInfo in DER; its length, or 0 when it is over the room.
static inline size_t lenticular_public_key_der(EVP_PKEY *key, uint8_t *der, size_t room) {
    int length = i2d_PUBKEY(key, NULL);
    if (length <= 0 || (size_t)length > room) return 0;
    uint8_t *at = der;
    return (size_t)i2d_PUBKEY(key, &at);
}

/// Writes the private key as PKCS #8 in DER; its length, or 0 when it is over the room.
static inline size_t lenticular_private_key_der(EVP_PKEY *key, uint8_t *der, size_t room) {
    PKCS8_PRIV_KEY_INFO *info = EVP_PKEY2PKCS8(key);
    if (info == NULL) return 0;
    int length = i2d_PKCS8_PRIV_KEY_INFO(info, NULL);
    size_t written = 0;
    if (length > 0 && (size_t)length <= room) {
        uint8_t *at = der;
        written = (size_t)i2d_PKCS8_PRIV_KEY_INFO(info, &at);
    }
    PKCS8_PRIV_KEY_INFO_free(info);
    return written;
}

/// AES-GCM for a key of 16 or 32 bytes, else null.
static inline const EVP_CIPHER *lenticular_aesgcm(size_t keyByteCount) {
    if (keyByteCount == 16) return EVP_aes_128_gcm();
    return keyByteCount == 32 ? EVP_aes_256_gcm() : NULL;
}

/// Seals with AES-GCM: writes as many bytes as came and a tag of 16; 1 when that is done.
static inline int lenticular_aesgcm_seal(
    const uint8_t *key, size_t keyByteCount, const uint8_t *nonce, const uint8_t *beside,
    size_t besideByteCount, const uint8_t *plain, size_t byteCount, uint8_t *sealed) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int length = 0;
    int isMade =
        context != NULL && byteCount <= INT32_MAX && besideByteCount <= INT32_MAX &&
        EVP_EncryptInit_ex(context, lenticular_aesgcm(keyByteCount), NULL, key, nonce) == 1 &&
        EVP_EncryptUpdate(context, NULL, &length, beside, (int)besideByteCount) == 1 &&
        EVP_EncryptUpdate(context, sealed, &length, plain, (int)byteCount) == 1 &&
        EVP_EncryptFinal_ex(context, sealed + byteCount, &length) == 1 &&
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, sealed + byteCount) == 1;
    EVP_CIPHER_CTX_free(context);
    ERR_clear_error();
    return isMade;
}

/// Opens what AES-GCM has sealed, without its tag's 16 bytes; 1 when it is authentic, else nothing counts.
static inline int lenticular_aesgcm_open(
    const uint8_t *key, size_t keyByteCount, const uint8_t *nonce, const uint8_t *beside,
    size_t besideByteCount, const uint8_t *sealed, size_t byteCount, uint8_t *plain) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int length = 0;
    uint8_t end[16];
    int isOpen =
        context != NULL && byteCount <= INT32_MAX && besideByteCount <= INT32_MAX &&
        EVP_DecryptInit_ex(context, lenticular_aesgcm(keyByteCount), NULL, key, nonce) == 1 &&
        EVP_CIPHER_CTX_ctrl(
            context, EVP_CTRL_AEAD_SET_TAG, 16, (void *)(uintptr_t)(sealed + byteCount)) == 1 &&
        EVP_DecryptUpdate(context, NULL, &length, beside, (int)besideByteCount) == 1 &&
        EVP_DecryptUpdate(context, plain, &length, sealed, (int)byteCount) == 1 &&
        EVP_DecryptFinal_ex(context, end, &length) == 1;
    EVP_CIPHER_CTX_free(context);
    ERR_clear_error();
    return isOpen;
}
