import { expect, test } from 'vitest';
import { createWire } from '../../src/ingress/wire.ts';

test('another prefix changes keys and headers, and no digit of a number', () => {
  const text = '{"event":{"svc_id":"x","properties":{"svc_own":123456789012345678901,"rate":1.10}}}';
  expect(createWire('lago').answer({ status: 200, text, headers: { 'X-Svc-Replayed': 'true' } })).toEqual({
    status: 200,
    text: '{"event":{"lago_id":"x","properties":{"svc_own":123456789012345678901,"rate":1.10}}}',
    headers: { 'X-Lago-Replayed': 'true' },
  });
});
