#include "tests/prober/certificates.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace halfopen::testing {
namespace {

void need(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string("OpenSSL could not make a test certificate: ") + what);
}

std::shared_ptr<EVP_PKEY> new_key() {
  std::shared_ptr<EVP_PKEY> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  need(key != nullptr, "key");
  return key;
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  need(extension != nullptr, value.c_str());
  const int added = X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  need(added == 1, value.c_str());
}

std::string alternative_names(const Wishes& wishes) {
  std::string names;
  for (const std::string& name : wishes.dns) names += (names.empty() ? "DNS:" : ",DNS:") + name;
  for (const std::string& address : wishes.ip) names += (names.empty() ? "IP:" : ",IP:") + address;
  return names;
}

// Signed by `issuer`, or by itself.
Identity make(const Wishes& wishes, bool authority, const Identity* issuer) {
  static std::atomic<long> next_serial{1};
  Identity made{{X509_new(), X509_free}, new_key()};
  X509* const certificate = made.certificate.get();
  need(certificate != nullptr, "certificate");
  need(X509_set_version(certificate, X509_VERSION_3) == 1, "version");
  need(ASN1_INTEGER_set(X509_get_serialNumber(certificate), next_serial++) == 1, "serial number");
  need(X509_gmtime_adj(X509_getm_notBefore(certificate), wishes.from_s) != nullptr, "notBefore");
  need(X509_gmtime_adj(X509_getm_notAfter(certificate), wishes.to_s) != nullptr, "notAfter");
  need(X509_set_pubkey(certificate, made.key.get()) == 1, "public key");
  const auto* name = reinterpret_cast<const unsigned char*>(wishes.common_name.c_str());
  X509_NAME* const subject = X509_get_subject_name(certificate);
  need(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, -1, -1, 0) == 1, "subject");
  X509* const signer = issuer != nullptr ? issuer->certificate.get() : certificate;
  need(X509_set_issuer_name(certificate, X509_get_subject_name(signer)) == 1, "issuer");
  add_extension(certificate, signer, NID_basic_constraints,
                authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  add_extension(certificate, signer, NID_key_usage,
                authority ? "critical,keyCertSign" : "critical,digitalSignature");
  add_extension(certificate, signer, NID_subject_key_identifier, "hash");
  if (issuer != nullptr) add_extension(certificate, signer, NID_authority_key_identifier, "keyid:always");
  if (!authority) add_extension(certificate, signer, NID_ext_key_usage, "serverAuth");
  const std::string names = alternative_names(wishes);
  if (!names.empty()) add_extension(certificate, signer, NID_subject_alt_name, names);
  EVP_PKEY* const signing_key = issuer != nullptr ? issuer->key.get() : made.key.get();
  need(X509_sign(certificate, signing_key, EVP_sha256()) > 0, "signature");
  return made;
}

Wishes named(const std::string& name) {
  Wishes wishes;
  wishes.common_name = name;
  return wishes;
}

}  // namespace

Authority::Authority() : self_(make(named("halfopen test authority"), true, nullptr)) {}
Identity Authority::issue(const Wishes& wishes) const { return make(wishes, false, &self_); }
std::string Authority::pem() const { return pem_of(self_); }
Identity self_signed(const Wishes& wishes) { return make(wishes, false, nullptr); }

std::string pem_of(const Identity& identity) {
  const std::shared_ptr<BIO> memory(BIO_new(BIO_s_mem()), BIO_free);
  need(memory && PEM_write_bio_X509(memory.get(), identity.certificate.get()) == 1, "PEM");
  char* text = nullptr;
  const long length = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(length)};
}

TemporaryFile::TemporaryFile(const std::string& content)
    : path_(std::filesystem::temp_directory_path() / "halfopen-test-XXXXXX") {
  const int file = mkstemp(path_.data());
  if (file < 0) throw std::system_error(errno, std::generic_category(), path_);
  const auto written = ::write(file, content.data(), content.size());
  ::close(file);
  if (written != static_cast<ssize_t>(content.size())) throw std::runtime_error("cannot write " + path_);
}

TemporaryFile::~TemporaryFile() { ::unlink(path_.c_str()); }

}  // namespace halfopen::testing
