import { expect, test } from 'vitest';
import { createWire } from '../../src/ingress/translate-prefix.ts';

test('another wire prefix changes keys and headers and no digit of a number', () => {
  const text = '{"event":{"svc_id":"x","properties":{"svc_own":123456789012345678901,"rate":1.10}}}';
  expect(createWire('lago').answer({ status: 200, text, headers: { 'X-Svc-Replayed': 'true' } })).toEqual({
    status: 200,
    text: '{"event":{"lago_id":"x","properties":{"svc_own":123456789012345678901,"rate":1.10}}}',
    headers: { 'X-Lago-Replayed': 'true' },
  });
});

test('another wire prefix changes error places except names that customers chose', () => {
  const places = (prefix: string) => [
    { path: `adjusted_fee.${prefix}_id`, code: 'value_is_invalid' },
    { path: 'event.properties.svc_own', code: 'invalid_format' },
    { path: 'quote.svcless', code: 'invalid_format' },
    { path: 'order.execution_mode', code: 'value_is_invalid', allowed: ['order_only', `execute_in_${prefix}`] },
  ];
  const text = (prefix: string) => JSON.stringify({ status: 422, error_places: places(prefix) });
  expect(createWire('lago').answer({ status: 422, text: text('svc') }).text).toBe(text('lago'));
});

test('the documentation is translated to another prefix, and names that only contain the prefix are not', () => {
  const text =
    '{"required":["svc_id"],"enum":["execute_in_svc"],"description":"{svc_id}, X-Svc-Explain, not_svc_own, ' +
    'header svc-organization-id, group svc-ingest-<organization>"}';
  expect(createWire('lago').documentation(text)).toBe(
    '{"required":["lago_id"],"enum":["execute_in_lago"],"description":"{lago_id}, X-Lago-Explain, not_svc_own, ' +
      'header lago-organization-id, group lago-ingest-<organization>"}',
  );
  expect(createWire('svc').documentation(text)).toBe(text);
});
