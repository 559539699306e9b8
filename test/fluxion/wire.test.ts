/** The encoding of messages, compared with bytes computed from the field numbers of the public service. */

import { FluxqError } from '../../runtime/errors';
import {
  CancelRequest,
  CancelResponse,
  FluxionServiceService,
  InitRequest,
  InitResponse,
  MatchRequest,
  MatchResponse,
} from '../../runtime/fluxion/generated/fluxion';
import type { MatchOperation } from '../../runtime/fluxion/types';
import { errorFromWire, errorToWire, operationFromWire, operationToWire } from '../../runtime/fluxion/wire';

const hex = (bytes: { finish(): Uint8Array }) => Buffer.from(bytes.finish()).toString('hex');

test('encodes requests with public fields as the public service expects them', () => {
  expect(hex(InitRequest.encode(InitRequest.create({ policy: 'low', jgf: '{}' })))).toBe(
    '0a036c6f7712027b7d',
  );
  const match = { jobspec: '{}', request: 'allocate', reservation: true };
  expect(hex(MatchRequest.encode(MatchRequest.create(match)))).toBe('0a027b7d1208616c6c6f636174651801');
  // Field 2: the public request has no field 1.
  expect(hex(CancelRequest.encode(CancelRequest.create({ jobID: 5 })))).toBe('1005');
});

test('decodes responses of the public service', () => {
  const bytes = (text: string) => Buffer.from(text, 'hex');
  expect(InitResponse.decode(bytes('0801'))).toMatchObject({ status: 1 });
  expect(MatchResponse.decode(bytes('0a027b7d1007180120642d0000003f3002'))).toMatchObject({
    allocation: '{}',
    jobid: 7,
    reserved: true,
    at: 100,
    overhead: 0.5,
    status: 2,
  });
  expect(CancelResponse.decode(bytes('080510021803'))).toEqual({ jobID: 5, error: 2, status: 3 });
});

test('uses the RPC paths of the public service', () => {
  const { init, match, cancel } = FluxionServiceService;
  expect([init, match, cancel].map(({ path }) => path)).toEqual([
    '/fluxion.FluxionService/Init',
    '/fluxion.FluxionService/Match',
    '/fluxion.FluxionService/Cancel',
  ]);
});

test.each<MatchOperation>([
  'allocate',
  'allocate_with_satisfiability',
  'allocate_orelse_reserve',
  'without_allocating',
  'without_allocating_future',
])('converts operation %s to the wire and back', (operation) => {
  expect(operationFromWire(operationToWire(operation))).toBe(operation);
});

test('converts an error to the wire and back with code, text and retryable', () => {
  const error = new FluxqError('FLUXQ_FLUXION_GRAPH', 'no such node', {
    field: 'name',
    value: 'knoten-ä',
    remedy: 'add it',
    retryable: true,
  });
  const back = errorFromWire(errorToWire(error) as Parameters<typeof errorFromWire>[0]);
  expect(back).toMatchObject({ code: error.code, message: error.message, retryable: true });
  expect(
    errorFromWire(errorToWire(new Error('other')) as Parameters<typeof errorFromWire>[0]),
  ).toBeUndefined();
});
