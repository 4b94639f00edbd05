#ifndef ENGAGE_CCURL_SHIM_H
#define ENGAGE_CCURL_SHIM_H

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

// Swift cannot call variadic functions, so curl_easy_setopt and curl_easy_getinfo have a wrapper for each
// argument type.

static inline CURLcode engage_curl_set_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode engage_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode engage_curl_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode engage_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode engage_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}

// CURLOPT_WRITEFUNCTION, CURLOPT_READFUNCTION and CURLOPT_HEADERFUNCTION share this type.
typedef size_t (*engage_curl_data_callback)(char *data, size_t size, size_t count, void *context);

static inline CURLcode engage_curl_set_data_callback(CURL *handle, CURLoption option, engage_curl_data_callback value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode engage_curl_set_seek_callback(CURL *handle, curl_seek_callback value) {
  return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, value);
}

static inline CURLcode engage_curl_set_progress_callback(CURL *handle, curl_xferinfo_callback value) {
  return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, value);
}

static inline CURLcode engage_curl_set_prerequest_callback(CURL *handle, curl_prereq_callback value) {
  return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, value);
}

static inline CURLcode engage_curl_set_close_callback(CURL *handle, curl_closesocket_callback value) {
  return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, value);
}

static inline CURLcode engage_curl_set_authorities(CURL *handle, const void *bytes, size_t count) {
  struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
  return curl_easy_setopt(handle, CURLOPT_CAINFO_BLOB, &blob);
}

// Returns the number of bytes that the peer's TCP has acknowledged; -1 if the kernel does not report it. The
// number is read at its offset in `struct tcp_info` of linux/tcp.h, which never changes: that header
// conflicts with the header of the C library, whose struct is shorter.
static inline int64_t engage_tcp_bytes_acknowledged(int descriptor) {
  enum { place = 120 };
  unsigned char info[512];
  socklen_t size = sizeof info;
  uint64_t count;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, &size) != 0 || size < place + sizeof count) return -1;
  memcpy(&count, info + place, sizeof count);
  return (int64_t)count;
}

static inline CURLcode engage_curl_get_long(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode engage_curl_get_socket(CURL *handle, CURLINFO info, curl_socket_t *value) {
  return curl_easy_getinfo(handle, info, value);
}

// Macros that Swift does not import.
static const long engage_curl_global_all = CURL_GLOBAL_ALL;
static const CURLversion engage_curl_version_now = CURLVERSION_NOW;
static const long engage_curl_tls12 = CURL_SSLVERSION_TLSv1_2;
static const int engage_curl_prerequest_go = CURL_PREREQFUNC_OK;
static const int engage_curl_prerequest_stop = CURL_PREREQFUNC_ABORT;
static const int engage_curl_cannot_seek = CURL_SEEKFUNC_FAIL;

#endif
