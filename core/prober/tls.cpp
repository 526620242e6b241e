#include "core/prober/tls.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>
#include <asio/ip/address.hpp>
#include <stdexcept>
#include <system_error>

namespace halfopen {
namespace {

constexpr std::array<unsigned char, 9> ALPN = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

std::string why(const char* otherwise) {
  const unsigned long error = ERR_get_error();
  const char* reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(error)) return std::generic_category().message(ERR_GET_REASON(error));
  return reason == nullptr ? otherwise : reason;
}

}  // namespace

TlsContext make_tls(const std::string& trusted_ca_file) {
  ERR_clear_error();
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_alpn_protos(native, ALPN.data(), ALPN.size());
  // A probe never resumes a session: its handshake is the whole one that a new client of the endpoint makes.
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  if (trusted_ca_file.empty()) {
    if (SSL_CTX_set_default_verify_paths(native) != 1)
      throw std::runtime_error("the system's trust roots could not be read: " + why("unknown reason"));
    return context;
  }
  if (SSL_CTX_load_verify_file(native, trusted_ca_file.c_str()) != 1)
    throw std::runtime_error(trusted_ca_file +
                             " could not be read as PEM certificates: " + why("it holds none"));
  // Each certificate of the file is trusted by itself, an intermediate one or an endpoint's own included.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(native), X509_V_FLAG_PARTIAL_CHAIN);
  return context;
}

bool expect_peer(SSL* session, const std::string& address) {
  X509_VERIFY_PARAM* const expected = SSL_get0_param(session);
  std::error_code not_literal;
  asio::ip::make_address(address, not_literal);
  if (!not_literal) {
    // Without a zone, which no certificate names.
    const std::string plain = address.substr(0, address.find('%'));
    return X509_VERIFY_PARAM_set1_ip_asc(expected, plain.c_str()) == 1;
  }
  X509_VERIFY_PARAM_set_hostflags(expected,
                                  X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const std::string name = address.ends_with('.') ? address.substr(0, address.size() - 1) : address;
  // To OpenSSL an empty name is any name, and one with a dot in front any name below it.
  if (name.empty() || name.front() == '.') return false;
  return X509_VERIFY_PARAM_set1_host(expected, name.data(), name.size()) == 1 &&
         SSL_set_tlsext_host_name(session, name.c_str()) == 1;
}

std::string tls_problem(SSL* session, const std::error_code& error) {
  const long verdict = SSL_get_verify_result(session);
  if (verdict != X509_V_OK) return X509_verify_cert_error_string(verdict);
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated)
    return "the connection was closed in the handshake";
  return error.message();
}

}  // namespace halfopen
