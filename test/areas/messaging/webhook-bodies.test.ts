import { expect, test } from 'vitest';
import { bodyOf } from '../../../src/areas/messaging/webhooks/request-body.ts';

const EVENT = { webhook_type: 'invoice.created', object_type: 'invoice', organization_id: 'o' };

test('with the prefix svc the stored webhook body is sent as it is', () => {
  const stored = '{"webhook_type":"a.b", "a":{"svc_id":"1"}}';
  expect(bodyOf(stored, 'svc')).toBe(stored);
});

test('another prefix is put into the keys of a webhook body, except organization_id', () => {
  const stored = JSON.stringify({ ...EVENT, invoice: { svc_id: '1', fees: [{ svc_id: '2' }] } });
  expect(bodyOf(stored, 'lago')).toBe(
    '{"webhook_type":"invoice.created","object_type":"invoice","organization_id":"o","invoice":{"lago_id":"1","fees":[{"lago_id":"2"}]}}',
  );
});

test('a webhook body of exactly 1 MiB is sent whole; one byte more leaves out its fees and charges and says so', () => {
  const withNote = (note: string) =>
    JSON.stringify({
      ...EVENT,
      invoice: { svc_id: '1', fees: [{ note }], plan: { charges: [{ a: 1 }], code: 'p' }, total: 5 },
    });
  const fitting = withNote('ä'.repeat((1024 * 1024 - Buffer.byteLength(withNote(''))) >> 1));
  const padded = Buffer.byteLength(fitting) < 1024 * 1024 ? fitting.replace('"note":"', '"note":" ') : fitting;
  expect(Buffer.byteLength(padded)).toBe(1024 * 1024);
  expect(bodyOf(padded, 'svc')).toBe(padded);
  expect(JSON.parse(bodyOf(padded.replace('"note":"', '"note":" '), 'svc'))).toEqual({
    ...EVENT,
    invoice: { svc_id: '1', plan: { code: 'p', truncated: true }, total: 5, truncated: true },
  });
});
