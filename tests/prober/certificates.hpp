// Certificates made in the test: a private authority and whatever may be wrong with what it issues.
#pragma once

#include <memory>
#include <string>
#include <vector>

struct evp_pkey_st;
struct x509_st;

namespace halfopen::testing {

// What a server shows and proves.
struct Identity {
  std::shared_ptr<x509_st> certificate;
  std::shared_ptr<evp_pkey_st> key;
};

// What a certificate says. Times are seconds from now.
struct Wishes {
  std::vector<std::string> dns, ip;  // subjectAltName
  std::string common_name = "test";
  long from_s = -3600, to_s = 3600;
};

class Authority {
 public:
  Authority();
  Identity issue(const Wishes& wishes) const;
  std::string pem() const;  // its own certificate

 private:
  Identity self_;
};

// Signed by nobody but itself, for servers.
Identity self_signed(const Wishes& wishes);
std::string pem_of(const Identity& identity);

// A file that is gone with its owner.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace halfopen::testing
