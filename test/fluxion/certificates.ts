import { makeCertificate, type ServingCertificate } from '../../runtime/admission/certificates';

/** Makes a certificate for localhost and 127.0.0.1 with its own authority. */
export function loopbackCertificate(end: 'server' | 'client' = 'server'): Promise<ServingCertificate> {
  return makeCertificate({ names: ['localhost', '127.0.0.1'], now: new Date(), end });
}
