import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { languageOf } from '../../src/areas/messaging/documents/texts/by-locale.ts';
import type { Refusal } from '../../src/platform/refusal.ts';
import { refuseIssues } from '../../src/platform/schema/field-errors.ts';
import type { Client } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

// Every object inherits members such as `constructor`. Codes, filters and keys may be named like them.
const INHERITED = ['constructor', 'toString', 'hasOwnProperty', '__proto__'];

let service: TestService;
let org: Client;
beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
  org = await service.org();
  await made(
    org.post('/plans', {
      plan: {
        name: 'P',
        code: 'p',
        interval: 'monthly',
        amount_cents: 0,
        pay_in_advance: false,
        amount_currency: 'EUR',
      },
    }),
  );
  await made(
    org.post('/features', { feature: { code: 'seats', privileges: [{ code: 'max', value_type: 'integer' }] } }),
  );
  await made(org.post('/plans/p/entitlements', { entitlements: { seats: { max: 5 } } }));
});
afterAll(() => service.stop());

async function made(answer: ReturnType<Client['post']>) {
  const { status, text } = await answer;
  expect(status, text).toBe(200);
}

test.each(INHERITED)('a privilege %s that the plan does not grant cannot be taken from it', async (name) => {
  const answer = await org.delete(`/plans/p/entitlements/seats/privileges/${name}`);
  expect([answer.status, answer.body.resource]).toEqual([404, 'privilege']);
});

test.each(INHERITED)('no activity is about a resource of type %s', async (name) => {
  const answer = await org.get(`/activity_logs?resource_types[]=${name}`);
  expect([answer.status, answer.body.activity_logs]).toEqual([200, []]);
});

test.each(INHERITED)('a feature and a privilege may be called %s', async (code) => {
  await made(org.post('/features', { feature: { code, privileges: [{ code, value_type: 'integer' }] } }));
  const body = JSON.parse(`{"entitlements":{"${code}":{"${code}":7}}}`);
  await made(org.patch('/plans/p/entitlements', body));
  const { entitlement } = (await org.get(`/plans/p/entitlements/${code}`)).body;
  expect(entitlement.privileges).toMatchObject([{ code, value: 7 }]);
  const wrong = await org.patch('/plans/p/entitlements', JSON.parse(`{"entitlements":{"${code}":{"${code}":"x"}}}`));
  expect([wrong.status, Object.values(wrong.body.error_details)]).toEqual([422, [['value_is_invalid']]]);
  await made(org.delete(`/plans/p/entitlements/${code}/privileges/${code}`));
});

test.each(INHERITED)('an error of a field %s is reported like any other', (name) => {
  const fields = JSON.parse(`{"${name}":1}`);
  const { error } = z.record(z.string(), z.string('value_is_invalid')).safeParse(fields);
  // The library leaves out the one name that no object literal can hold.
  const expected = name === '__proto__' ? {} : { [name]: ['value_is_invalid'] };
  const body = error ? (refuseIssues(error) as Refusal).body : { error_details: {} };
  expect(body).toMatchObject({ error_details: expected });
});

test.each(INHERITED)('a language called %s is an unknown one', (name) => {
  expect(languageOf(name, 'fr').locale).toBe('fr');
});
