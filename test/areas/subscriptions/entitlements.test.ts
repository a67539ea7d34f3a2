import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EntitlementsInput } from '../../../src/areas/catalog/entitlements/schema.ts';
import { listPlanEntitlements } from '../../../src/areas/catalog/plan-entitlements/reads.ts';
import { listSubscriptionEntitlements } from '../../../src/areas/subscriptions/entitlement-overrides/reads.ts';
import { until } from '../../support/until.ts';
import { type Catalog, type Org, openCatalog } from '../support/catalog.ts';

let catalog: Catalog;
let org: Org;
let made = 0;
/** Codes of a fresh plan and of a subscription to it. */
let plan: { svc_id: string; code: string };
let subscription: { id: string; externalId: string };

beforeAll(async () => {
  catalog = await openCatalog();
  org = catalog.org;
  await org.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: 'https://hooks.example.com/all' } });
  await org.post('/features', {
    feature: {
      code: 'seats',
      name: 'Seats',
      privileges: [
        { code: 'max', value_type: 'integer' },
        { code: 'sso', value_type: 'boolean' },
        { code: 'root', value_type: 'string' },
        { code: 'channel', value_type: 'select', config: { select_options: ['email', 'slack'] } },
      ],
    },
  });
  await org.post('/features', { feature: { code: 'api', privileges: [{ code: 'max', value_type: 'integer' }] } });
});
afterAll(() => catalog.stop());
beforeEach(async () => {
  plan = await catalog.plan();
  subscription = await catalog.subscribe(plan.svc_id, { external_id: `sub-${++made}` });
});

const onPlan = (path = '') => `/plans/${plan.code}/entitlements${path}`;
const onSubscription = (path = '') => `/subscriptions/${subscription.externalId}/entitlements${path}`;
const ofPlan = async (entitlements: object, verb: 'post' | 'patch' = 'post') => {
  const { status, text, body } = await org[verb](onPlan(), { entitlements });
  if (status !== 200) throw new Error(text);
  return valuesOf(body.entitlements);
};
const override = async (entitlements: object) => {
  const { status, text, body } = await org.patch(onSubscription(), { entitlements });
  if (status !== 200) throw new Error(text);
  return valuesOf(body.entitlements);
};
const valuesOf = (entitlements: { code: string; privileges: { code: string; value: unknown }[] }[]) =>
  Object.fromEntries(
    entitlements.map(({ code, privileges }) => [
      code,
      Object.fromEntries(privileges.map((each) => [each.code, each.value])),
    ]),
  );

describe('entitlements of a plan', () => {
  test('entitlements of a plan are granted, shown with the plan and taken away', async () => {
    const granted = await org.post(onPlan(), {
      entitlements: { seats: { sso: 'true', max: '10', channel: 'slack' }, api: {} },
    });
    const seats = {
      code: 'seats',
      name: 'Seats',
      description: null,
      privileges: [
        { code: 'max', name: null, value_type: 'integer', config: {}, value: 10 },
        { code: 'sso', name: null, value_type: 'boolean', config: {}, value: true },
        {
          code: 'channel',
          name: null,
          value_type: 'select',
          config: { select_options: ['email', 'slack'] },
          value: 'slack',
        },
      ],
    };
    const api = { code: 'api', name: null, description: null, privileges: [] };
    expect(granted.body).toEqual({ entitlements: [seats, api] });
    expect((await org.get(onPlan())).body).toEqual({ entitlements: [seats, api] });
    expect((await org.get(onPlan('/seats'))).body).toEqual({ entitlement: seats });
    const wrapped = [{ entitlement: seats }, { entitlement: api }];
    expect((await org.get(`/plans/${plan.code}`)).body.plan.entitlements).toEqual(wrapped);
    const listed = (await org.get('/plans')).body.plans.find(({ code }: { code: string }) => code === plan.code);
    expect(listed.entitlements).toEqual(wrapped);

    const less = await org.delete(onPlan('/seats/privileges/sso'));
    expect(valuesOf([less.body.entitlement])).toEqual({ seats: { max: 10, channel: 'slack' } });
    expect((await org.delete(onPlan('/seats/privileges/sso'))).body).toMatchObject({ resource: 'privilege' });
    expect((await org.delete(onPlan('/seats'))).body.entitlement.code).toBe('seats');
    expect((await org.delete(onPlan('/seats'))).body).toMatchObject({ status: 404, resource: 'entitlement' });
    expect((await org.get(onPlan('/seats'))).body).toMatchObject({ status: 404, resource: 'entitlement' });
    expect((await org.get(onPlan())).body).toEqual({ entitlements: [api] });
  });

  // entitlements.md#routes, POST and PATCH.
  test('POST replaces entitlements of a plan, and PATCH adds to them', async () => {
    expect(await ofPlan({ seats: { max: 10, sso: false }, api: { max: 1 } })).toEqual({
      seats: { max: 10, sso: false },
      api: { max: 1 },
    });
    expect(await ofPlan({ seats: { max: 20 } }, 'patch')).toEqual({ seats: { max: 20, sso: false }, api: { max: 1 } });
    expect(await ofPlan({ seats: {} }, 'patch')).toEqual({ seats: { max: 20, sso: false }, api: { max: 1 } });
    expect(await ofPlan({}, 'patch')).toEqual({ seats: { max: 20, sso: false }, api: { max: 1 } });
    expect(await ofPlan({ seats: {}, api: { max: 2 } })).toEqual({ seats: { max: 20, sso: false }, api: { max: 2 } });
    expect(await ofPlan({ seats: { sso: true } })).toEqual({ seats: { sso: true } });
    expect(await ofPlan({})).toEqual({});
  });

  test.each<[object, object]>([
    [{ seats: { max: 'x' } }, { max_privilege_value: ['value_is_invalid'] }],
    [
      { seats: { max: 1.5, sso: 'yes' } },
      { max_privilege_value: ['value_is_invalid'], sso_privilege_value: ['value_is_invalid'] },
    ],
    [{ seats: { channel: 'fax' } }, { channel_privilege_value: ['value_not_in_select_options'] }],
    [{ seats: { max: null } }, { 'privilege.value': ['value_is_mandatory'] }],
    [{ seats: { root: 'a\0' } }, { root_privilege_value: ['invalid_format'] }],
    [{ seats: 5 }, { seats: ['value_is_invalid'] }],
    [['seats'], { entitlements: ['value_is_invalid'] }],
  ])('an entitlement with %j is refused with %j', async (entitlements, details) => {
    await ofPlan({ api: { max: 1 } });
    for (const answer of [
      await org.post(onPlan(), { entitlements }),
      await org.patch(onPlan(), { entitlements }),
      await org.patch(onSubscription(), { entitlements }),
    ])
      expect(answer.body).toMatchObject({ status: 422, code: 'validation_errors', error_details: details });
    expect(valuesOf((await org.get(onPlan())).body.entitlements)).toEqual({ api: { max: 1 } });
  });

  test('an entitlement with an unknown name is refused with 404 and changes nothing', async () => {
    await ofPlan({ api: { max: 1 } });
    const refused = async (entitlements: object) => (await org.patch(onPlan(), { entitlements })).body.resource;
    expect(await refused({ api: { max: 5 }, none: {} })).toBe('feature');
    expect(await refused({ api: { max: 5 }, seats: { none: 1 } })).toBe('privilege');
    expect(await refused(JSON.parse('{"__proto__": {}}'))).toBe('feature');
    expect((await org.get(onPlan('/none'))).body.resource).toBe('feature');
    expect((await org.delete(onPlan('/none'))).body.resource).toBe('feature');
    expect((await org.delete(onPlan('/none/privileges/max'))).body.resource).toBe('feature');
    expect((await org.delete(onPlan('/seats/privileges/max'))).body.resource).toBe('entitlement');
    for (const verb of ['post', 'patch'] as const)
      expect((await org[verb]('/plans/none/entitlements', { entitlements: {} })).body.resource).toBe('plan');
    expect((await org.get('/plans/none/entitlements')).body.resource).toBe('plan');
    expect(valuesOf((await org.get(onPlan())).body.entitlements)).toEqual({ api: { max: 1 } });
  });

  test('every write of entitlements announces and logs the plan, whether anything changed or not', async () => {
    const count = async () =>
      (await catalog.activities('plan.updated')).filter((each) => each.resource_id === plan.svc_id);
    await ofPlan({ seats: { max: 10 } });
    await ofPlan({ seats: { max: 10 } });
    const [first, second] = await count();
    expect(first!.activity_object.entitlements).toMatchObject([{ entitlement: { code: 'seats' } }]);
    expect(Object.keys(first!.activity_object_changes)).toEqual(['entitlements']);
    expect(second!.activity_object_changes).toEqual({});
    const told = (await catalog.webhooks('plan.updated')).filter((each) => each.plan.code === plan.code);
    expect(told).toHaveLength(2);
    expect(told[0].plan.entitlements).toMatchObject([
      { entitlement: { code: 'seats', privileges: [{ code: 'max', value: 10 }] } },
    ]);
  });

  test('deleting a feature or a privilege changes the plans that grant it', async () => {
    await org.post('/features', { feature: { code: 'gone', privileges: [{ code: 'a' }, { code: 'b' }] } });
    await ofPlan({ gone: { a: 'x', b: 'y' }, api: { max: 1 } });
    await override({ gone: { a: 'z' } });
    await org.delete('/features/gone/privileges/a');
    expect(valuesOf((await org.get(onPlan())).body.entitlements)).toEqual({ gone: { b: 'y' }, api: { max: 1 } });
    expect(valuesOf((await org.get(onSubscription())).body.entitlements)).toEqual({
      gone: { b: 'y' },
      api: { max: 1 },
    });
    await org.delete('/features/gone');
    expect(valuesOf((await org.get(onSubscription())).body.entitlements)).toEqual({ api: { max: 1 } });
    const logged = (await catalog.activities('plan.updated')).filter((each) => each.resource_id === plan.svc_id);
    expect(logged).toHaveLength(3);
    expect(logged[2]!.activity_object.entitlements).toMatchObject([{ entitlement: { code: 'api' } }]);
    expect(Object.keys(logged[2]!.activity_object_changes)).toEqual(['entitlements']);
  });

  test('a deleted plan grants nothing', async () => {
    const other = await catalog.plan();
    await org.post(`/plans/${other.code}/entitlements`, { entitlements: { seats: { max: 1 } } });
    await org.delete(`/plans/${other.code}`);
    await until(async () => (await org.get(`/plans/${other.code}`)).status === 404);
    const rows = await catalog.service.sql`select from entitlements where plan_id = ${other.svc_id}`;
    expect(rows).toHaveLength(0);
  });
});

describe('entitlements of a subscription', () => {
  // entitlements.md#merge "Example".
  test('entitlements of a subscription follow the example of the rules', async () => {
    await ofPlan({ seats: { max: 10, sso: false } });
    const first = await org.patch(onSubscription(), { entitlements: { seats: { max: 25 } } });
    expect(first.body).toEqual({
      entitlements: [
        {
          code: 'seats',
          name: 'Seats',
          description: null,
          privileges: [
            {
              code: 'max',
              name: null,
              value_type: 'integer',
              config: {},
              value: 25,
              plan_value: 10,
              override_value: 25,
            },
            {
              code: 'sso',
              name: null,
              value_type: 'boolean',
              config: {},
              value: false,
              plan_value: false,
              override_value: null,
            },
          ],
          overrides: { max: 25 },
        },
      ],
    });
    const same = await org.patch(onSubscription(), { entitlements: { seats: { max: 10, sso: false } } });
    expect(same.body.entitlements[0].overrides).toEqual({});
    const hidden = await org.delete(onSubscription('/seats/privileges/sso'));
    expect(valuesOf([hidden.body.entitlement])).toEqual({ seats: { max: 10 } });
    expect(valuesOf(hidden.body.entitlements)).toEqual({ seats: { max: 10 } });
    const again = await org.patch(onSubscription(), { entitlements: { seats: { sso: true } } });
    expect(again.body.entitlements[0].overrides).toEqual({ sso: true });
    expect(valuesOf(again.body.entitlements)).toEqual({ seats: { max: 10, sso: true } });
  });

  test('a feature is removed from a subscription, given back, and granted beside those of the plan', async () => {
    await ofPlan({ seats: { max: 10 } });
    expect(await override({ api: { max: 3 } })).toEqual({ seats: { max: 10 }, api: { max: 3 } });
    const own = (await org.get(onSubscription())).body.entitlements[1];
    expect(own).toMatchObject({ code: 'api', privileges: [{ value: 3, plan_value: '', override_value: 3 }] });

    const taken = await org.delete(onSubscription('/seats'));
    expect(valuesOf([taken.body.entitlement])).toEqual({ seats: { max: 10 } });
    expect(valuesOf(taken.body.entitlements)).toEqual({ api: { max: 3 } });
    const twice = await org.delete(onSubscription('/seats'));
    expect(twice.body.entitlement).toMatchObject({ code: 'seats', privileges: [], overrides: {} });
    expect(await override({ seats: { max: 12 } })).toEqual({ seats: { max: 12 }, api: { max: 3 } });
    await org.delete(onSubscription('/api'));
    expect(valuesOf((await org.get(onSubscription())).body.entitlements)).toEqual({ seats: { max: 12 } });
    expect(valuesOf((await org.get(onPlan())).body.entitlements)).toEqual({ seats: { max: 10 } });
  });

  test('entitlements are shown with a subscription, also when it has an override', async () => {
    await ofPlan({ seats: { max: 10 } });
    await override({ seats: { sso: true } });
    const path = `/subscriptions/${subscription.externalId}`;
    await org.put(path, { subscription: { ending_at: null, plan_overrides: { amount_cents: 5 } } });
    const { body } = await org.get(path);
    expect(body.subscription.plan.parent_id).toBe(plan.svc_id);
    expect(valuesOf(body.subscription.entitlements)).toEqual({ seats: { max: 10, sso: true } });
    expect(valuesOf([body.subscription.plan.entitlements[0].entitlement])).toEqual({ seats: { max: 10 } });
    expect(await override({ seats: { max: 11 } })).toEqual({ seats: { max: 11, sso: true } });
    expect(await ofPlan({ seats: { max: 30, channel: 'email' } })).toEqual({ seats: { max: 30, channel: 'email' } });
    expect(valuesOf((await org.get(path)).body.subscription.entitlements)).toEqual({
      seats: { max: 11, sso: true, channel: 'email' },
    });
  });

  test('every write of entitlements announces and logs the subscription', async () => {
    await override({ seats: { max: 1 } });
    await override({});
    const told = (await catalog.webhooks('subscription.updated')).filter(
      (each) => each.subscription.external_id === subscription.externalId,
    );
    expect(told).toHaveLength(2);
    expect(valuesOf(told[0].subscription.entitlements)).toEqual({ seats: { max: 1 } });
    const logged = (await catalog.activities('subscription.updated')).filter(
      (each) => each.resource_id === subscription.id,
    );
    expect(logged).toHaveLength(2);
  });

  test('entitlements of a subscription in another status are selected by subscription_status or status', async () => {
    const ended = await catalog.subscribe(plan.svc_id, {
      external_id: `${subscription.externalId}-old`,
      status: 'terminated',
    });
    const path = `/subscriptions/${ended.externalId}/entitlements`;
    expect((await org.get(path)).body).toMatchObject({ status: 404, resource: 'subscription' });
    await org.patch(`${path}?subscription_status=terminated`, { entitlements: { seats: { max: 4 } } });
    for (const name of ['subscription_status', 'status'])
      expect(valuesOf((await org.get(`${path}?${name}=terminated`)).body.entitlements)).toEqual({ seats: { max: 4 } });
    expect((await org.delete(`${path}/seats?status=terminated`)).status).toBe(200);
  });

  test('unknown subscriptions and features of entitlements are refused with 404', async () => {
    const resource = async (answer: Promise<{ body: { resource: string } }>) => (await answer).body.resource;
    expect(await resource(org.get('/subscriptions/none/entitlements'))).toBe('subscription');
    expect(await resource(org.patch('/subscriptions/none/entitlements', { entitlements: {} }))).toBe('subscription');
    expect(await resource(org.patch(onSubscription(), { entitlements: { none: {} } }))).toBe('feature');
    expect(await resource(org.patch(onSubscription(), { entitlements: { seats: { none: 1 } } }))).toBe('privilege');
    expect(await resource(org.delete(onSubscription('/none')))).toBe('feature');
    expect(await resource(org.delete(onSubscription('/seats/privileges/none')))).toBe('privilege');
    const other = await catalog.service.org();
    expect(await resource(other.get(onSubscription()))).toBe('subscription');
    expect(await resource(other.get(onPlan()))).toBe('plan');
    expect(await resource(other.delete(onPlan('/seats')))).toBe('plan');
  });

  test('parallel writes leave one grant', async () => {
    await ofPlan({ seats: { max: 10 } });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => org.patch(onSubscription(), { entitlements: { seats: { max: 20 + n } } })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const rows = await catalog.service.sql`
      select from entitlements e join entitlement_values v on v.entitlement_id = e.id
      where e.subscription_id = ${subscription.id}`;
    expect(rows).toHaveLength(1);
  });
});

test('reads of entitlements take few statements', async () => {
  const query = { subscription_status: 'active' as const };
  const external_id = subscription.externalId;
  expect(await catalog.statementsOf((ctx) => listPlanEntitlements(ctx, { code: plan.code }))).toBe(1);
  expect(await catalog.statementsOf((ctx) => listSubscriptionEntitlements(ctx, { external_id, query }))).toBe(2);
});

test('an entitlement whose key is absent changes nothing', () => {
  for (const body of [{}, undefined, { entitlements: null }, { entitlements: {} }])
    expect(EntitlementsInput.parse(body)).toEqual([]);
});
