#pragma once

// What TLS needs of OpenSSL beyond plain functions: its macros as inline functions.

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/// Chooses http/1.1, the only protocol spoken; a client that offers only others is refused, as
/// RFC 7301 §3.2 asks.
static inline int openssl_choose_http11(
    SSL *session, const unsigned char **chosen, unsigned char *chosen_count,
    const unsigned char *offered, unsigned int offered_count, void *context) {
    static const unsigned char spoken[] = "\x08http/1.1";
    unsigned char *found = NULL;
    int result = SSL_select_next_proto(
        &found, chosen_count, spoken, sizeof spoken - 1, offered, offered_count);
    (void)session;
    (void)context;
    *chosen = found;
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// A context for a server: TLS 1.2 and later, the given groups and TLS 1.2 ciphers, no compression,
/// no renegotiation, no resumption. NULL when OpenSSL refuses one of it.
static inline SSL_CTX *openssl_server_context(const char *ciphers, const char *groups) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (context == NULL) return NULL;
    SSL_CTX_set_options(
        context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET
                     | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_alpn_select_cb(context, openssl_choose_http11, NULL);
    if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1
        && SSL_CTX_set_cipher_list(context, ciphers) == 1
        && SSL_CTX_set1_groups_list(context, groups) == 1)
        return context;
    SSL_CTX_free(context);
    return NULL;
}

/// The bytes waiting in a memory BIO, where they lie.
static inline long openssl_waiting(BIO *memory, const char **bytes) {
    char *start = NULL;
    long count = BIO_get_mem_data(memory, &start);
    *bytes = start;
    return count;
}

/// Drops the oldest bytes of a memory BIO; all of them cost nothing.
static inline void openssl_drop(BIO *memory, long count) {
    char scrap[4096];
    if (count >= (long)BIO_pending(memory)) {
        (void)BIO_reset(memory);
        return;
    }
    while (count > 0) {
        int dropped = BIO_read(memory, scrap, count < 4096 ? (int)count : 4096);
        if (dropped <= 0) return;
        count -= dropped;
    }
}

/// A context for a client that believes no one without a chain to a certificate it trusts: TLS 1.2
/// and later. `spoken` is what it offers to speak (RFC 7301), each with its length before it; none
/// says nothing of it. NULL when OpenSSL refuses one of it.
static inline SSL_CTX *openssl_client_context(
    const char *ciphers, const char *groups, const unsigned char *spoken,
    unsigned int spoken_count) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (context == NULL) return NULL;
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    // NB: this one function gives zero for success.
    if ((spoken_count == 0 || SSL_CTX_set_alpn_protos(context, spoken, spoken_count) == 0)
        && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1
        && SSL_CTX_set_cipher_list(context, ciphers) == 1
        && SSL_CTX_set1_groups_list(context, groups) == 1)
        return context;
    SSL_CTX_free(context);
    return NULL;
}

/// Has a client's session name a host, and accept its certificate only; an address is no name.
static inline int openssl_expect_host(SSL *session, const char *host) {
    X509_VERIFY_PARAM *wanted = SSL_get0_param(session);
    if (X509_VERIFY_PARAM_set1_ip_asc(wanted, host) == 1) return 1;
    ERR_clear_error();
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(session, host) == 1 && SSL_set_tlsext_host_name(session, host) == 1;
}
