import { embeddedFluxion } from '../../../runtime/fluxion/matcher/engine';
import { conformance } from '../conformance';

describe('the embedded matcher in this process', () => {
  conformance(
    async () => {
      const fluxion = embeddedFluxion();
      return { fluxion, stop: () => fluxion.close() };
    },
    { level: 'exact' },
  );
});
