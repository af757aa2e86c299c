// A certificate authority for a test, and one certificate with the names of all services, by OpenSSL's own command.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export interface Certificates {
  /** The authority, for NODE_EXTRA_CA_CERTS and sslrootcert. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** @param names - DNS names that the certificate is for */
export function createCertificates(folder: string, names: readonly string[]): Certificates {
  const [authority, certificate] = ['authority.pem', 'certificate.pem'].map((name) =>
    join(folder, name),
  ) as [string, string];
  const [authorityKey, key] = ['authority-key.pem', 'key.pem'].map((name) =>
    join(folder, name),
  ) as [string, string];
  const make = (args: readonly string[]): void => {
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync('openssl', ['req', '-x509', ...curve, '-days', '2', ...args], { stdio: 'pipe' });
  };
  make(['-subj', '/CN=Test authority', '-keyout', authorityKey, '-out', authority]);
  make([
    ...['-subj', `/CN=${names[0] ?? ''}`, '-keyout', key, '-out', certificate],
    ...['-CA', authority, '-CAkey', authorityKey, '-addext', 'basicConstraints=CA:FALSE'],
    ...['-addext', `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`],
  ]);
  return { authority, certificate, key };
}
