import { makeCertificate, type ServingCertificate } from '../../runtime/admission/certificates';

/** For localhost and 127.0.0.1, from an authority of its own. */
export function loopbackCertificate(end: 'server' | 'client' = 'server'): Promise<ServingCertificate> {
  return makeCertificate({ names: ['localhost', '127.0.0.1'], now: new Date(), end });
}
