// TLS as probes speak it: who is trusted, and whom the certificate must name. An internal of the prober.
#pragma once

#include <asio/ssl.hpp>
#include <memory>
#include <string>

namespace halfopen {

using TlsContext = std::shared_ptr<asio::ssl::context>;

// TLS 1.2 or later, offering http/1.1 by ALPN, trusting the certificates of a PEM file, or the system's where
// the name is empty. Throws std::runtime_error with a sentence. Reads files, which may block.
TlsContext make_tls(const std::string& trusted_ca_file);

// The certificate must be `address`'s: an IP address must be among its IP SANs, a name among its DNS SANs
// (RFC 9525: the common name says nothing). A name is also told to the server (SNI). False if OpenSSL
// refuses the name.
bool expect_peer(SSL* session, const std::string& address);

// What went wrong in a handshake, as an operator reads it: "certificate has expired".
std::string tls_problem(SSL* session, const std::error_code& error);

}  // namespace halfopen
