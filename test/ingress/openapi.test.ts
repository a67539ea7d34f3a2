import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { CHARGE_MODELS } from '../../src/engine/pricing/charge-models.ts';
import { chargeModel } from '../../src/engine/pricing/price.ts';
import { validateProperties } from '../../src/engine/pricing/validate-properties.ts';
import { openApiDocument } from '../../src/ingress/openapi.ts';
import { operations } from '../../src/operations.ts';

interface Shape {
  $ref?: string;
  properties?: Record<string, Shape>;
  required?: string[];
  items?: Shape;
}
interface Document {
  openapi: string;
  paths: Record<
    string,
    Record<string, { operationId: string; requestBody?: { content: { 'application/json': { schema: Shape } } } }>
  >;
}

const document = openApiDocument(operations, { url: '/api/v1', version: '1.0.0' }) as Document;
const { components: parts } = document as unknown as {
  components: { schemas: Record<string, Shape>; responses: object; headers: object };
};
const { schemas: components } = parts;
const bodyOf = (method: string, path: string) => {
  const schema = document.paths[path]?.[method]?.requestBody?.content['application/json'].schema;
  return schema && components[schema.$ref!.split('/').at(-1)!];
};

test('the API description of all operations can be generated and shows each of them', () => {
  expect(document.openapi).toBe('3.1.0');
  const shown = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map((row) => row.operationId),
  );
  expect(shown.sort()).toEqual(
    operations
      .filter((operation) => !operation.hidden)
      .map((operation) => operation.name)
      .sort(),
  );
});

test('the API description shows every body with its root key', () => {
  for (const operation of operations) {
    if (operation.root === undefined || operation.hidden || !operation.body) continue;
    const body = bodyOf(operation.method, operation.path.replace(/:(\w+)/g, '{$1}'));
    expect(Object.keys(body?.properties ?? {}), operation.name).toEqual([operation.root]);
  }
  expect(bodyOf('post', '/events')?.properties?.event?.required).toEqual([
    'transaction_id',
    'external_subscription_id',
    'code',
  ]);
  expect(bodyOf('post', '/events/batch')?.properties?.events?.items?.properties).toHaveProperty('transaction_id');
  expect(bodyOf('post', '/subscriptions')?.properties?.subscription?.required).toEqual([
    'external_customer_id',
    'plan_code',
    'external_id',
  ]);
  expect(bodyOf('put', '/subscriptions/{external_id}')?.properties).toHaveProperty('subscription');
});

const text = JSON.stringify(document);

test('every reference of the API description leads to a component', () => {
  const references = [...new Set(text.match(/"\$ref":"[^"]+"/g))].map((each) => each.slice('"$ref":"'.length, -1));
  expect(references.length).toBeGreaterThan(100);
  for (const reference of references) {
    const [, kind, name] = /^#\/components\/(schemas|responses|headers)\/(\w+)$/.exec(reference) ?? [];
    expect(Object.keys(parts[kind as 'schemas'] ?? {}), reference).toContain(name);
  }
  expect(text).not.toContain('$defs');
});

test('no success answer of the API description is that of a refusal', () => {
  expect(Object.keys(components.CreateEventAnswer!.properties ?? {})).toContain('event');
  const answers = Object.keys(components).filter((name) => name.endsWith('Answer'));
  for (const name of answers) expect(JSON.stringify(components[name]), name).not.toContain('/schemas/Error"');
});

interface QueryParameter {
  in: string;
  name: string;
  required: boolean;
  schema: { type: string; items?: { enum?: string[] }; enum?: string[] };
  style?: string;
}
const operationOf = (name: string) =>
  Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .find(({ operationId }) => operationId === name) as unknown as {
    parameters: QueryParameter[];
    description: string;
    tags: string[];
  };
const parameterOf = (operation: string, name: string) =>
  operationOf(operation).parameters.find((each) => each.in === 'query' && each.name === name);

test.each([
  ['findAllPlans', 'page', 'integer'],
  ['findAllPlans', 'per_page', 'integer'],
  ['findAllInvoices', 'billing_entity_codes[]', 'array'],
  ['findAllInvoices', 'statuses[]', 'array'],
  ['findAllInvoices', 'status', 'string'],
  ['findAllInvoices', 'metadata', 'object'],
  ['findAllInvoices', 'amount_from', 'integer'],
  ['findAllInvoices', 'issuing_date_from', 'string'],
  ['findAllInvoices', 'payment_overdue', 'boolean'],
  ['findAllCustomers', 'currencies[]', 'array'],
  ['findAllSubscriptions', 'status[]', 'array'],
  ['findCustomerCurrentUsage', 'filter_by_group', 'object'],
])('the API description says that %s takes %s as %s', (operation, name, type) => {
  expect(parameterOf(operation, name)?.schema.type).toBe(type);
});

test('a parameter is required where nothing is answered without it', () => {
  const required = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId }) =>
      (operationOf(operationId).parameters ?? [])
        .filter((each) => each.in === 'query' && each.required)
        .map(({ name }) => `${operationId} ${name}`),
    );
  expect(required.sort()).toEqual([
    'exportEDocuments from',
    'exportEDocuments to',
    'findAiMargins from',
    'findAiMargins to',
    'findAllCustomerPastUsage external_subscription_id',
    'findAllSecurityLogs to_date',
    'findCustomerAiMargins from',
    'findCustomerAiMargins to',
    'findCustomerCurrentUsage external_subscription_id',
    'findCustomerProjectedUsage external_subscription_id',
    'resolvePrices model',
    'resolvePrices provider',
    'search q',
  ]);
});

test('the API description lists the words that a filter accepts', () => {
  expect(parameterOf('findAllInvoices', 'status')?.schema.enum).toContain('finalized');
  expect(parameterOf('findAllInvoices', 'payment_statuses[]')?.schema.items?.enum).toContain('succeeded');
  expect(parameterOf('findAllQuotes', 'status[]')?.schema.items?.enum).toContain('draft');
});

// Parameters whose words the contract lists, but for those of currencies and countries.
test.each([
  ['findAllAppliedCoupons', 'status', ['active', 'terminated']],
  ['findAllCustomerAppliedCoupons', 'status', ['active', 'terminated']],
  ['findAllCustomers', 'account_type[]', ['customer', 'partner']],
  ['findAllCustomers', 'customer_type', ['company', 'individual']],
  ['findAllActivityLogs', 'activity_sources[]', ['api', 'front', 'system']],
  ['findAllApiLogs', 'http_methods[]', ['post', 'put', 'delete']],
  ['findAllPaymentRequests', 'payment_status', ['pending', 'failed', 'succeeded']],
  ['findAllCustomerPaymentRequests', 'payment_status', ['pending', 'failed', 'succeeded']],
  ['findAllSubscriptions', 'status[]', ['active', 'canceled', 'pending', 'terminated']],
  ['findAllCustomerSubscriptions', 'status[]', ['active', 'canceled', 'pending', 'terminated']],
  ['findSubscription', 'status', ['active', 'terminated', 'pending', 'canceled']],
  ['updateSubscription', 'status', ['active', 'pending']],
  ['destroySubscription', 'on_termination_credit_note', ['credit', 'refund', 'skip', 'offset']],
  ['destroySubscription', 'on_termination_invoice', ['generate', 'skip']],
  ['findAllUsages', 'time_granularity', ['daily', 'weekly', 'monthly']],
  ['findAllUsages', 'customer_type', ['individual', 'company']],
])('the API description of %s lists the words of %s', (operation, name, words) => {
  const { schema } = parameterOf(operation, name)!;
  expect(schema.enum ?? schema.items?.enum).toEqual(expect.arrayContaining(words));
});

describe('charge properties in the API description', () => {
  interface Form {
    title: string;
    properties: Record<string, object>;
    examples: object[];
  }
  const shape = components.ChargeProperties as unknown as { anyOf: Form[] };
  const formOf = (model: string) => shape.anyOf.find(({ title }) => title === model)!;
  const ajv = new Ajv2020({ strict: false });

  test('charge properties are described at every charge, as sent and as shown', () => {
    const charge = bodyOf('post', '/plans/{code}/charges')!.properties!.charge!;
    expect(JSON.stringify(charge.properties!.properties)).toContain('#/components/schemas/ChargeProperties');
    for (const name of ['CreatePlanInput', 'CreatePlanFixedChargeInput', 'CreateSubscriptionInput'])
      expect(JSON.stringify(components[name])).toContain('#/components/schemas/ChargeProperties');
    expect(JSON.stringify(components.FindPlanChargeAnswer ?? components.CreatePlanChargeAnswer)).toContain(
      '#/components/schemas/ShownChargeProperties',
    );
  });

  test.each(CHARGE_MODELS.filter((model) => model !== 'custom'))(
    'described properties of %s are those that the model accepts',
    (model) => {
      const { properties, examples } = formOf(model);
      const shared = ['pricing_group_keys', 'grouped_by', 'presentation_group_keys'];
      expect(Object.keys(properties).sort()).toEqual([...chargeModel(model).keys, ...shared].sort());
      const isOfForm = ajv.compile(formOf(model));
      for (const example of [...examples, chargeModel(model).defaults]) {
        expect(isOfForm(example), JSON.stringify(example)).toBe(true);
        expect(validateProperties(model, example)).toMatchObject({ ok: true });
      }
    },
  );

  test.each<[(typeof CHARGE_MODELS)[number], object]>([
    ['standard', { amount: 1 }],
    ['standard', { price: '1' }],
    ['graduated', { graduated_ranges: [] }],
    ['package', { amount: '1', package_size: 0, free_units: 0 }],
    ['percentage', { rate: '1', free_units_per_events: 0 }],
    ['volume', { volume_ranges: [{ to_value: null, per_unit_amount: '1', flat_amount: '0' }] }],
    ['dynamic', { pricing_group_keys: 'region' }],
  ])('properties of %s are not %j, by the description and by the rules', (model, given) => {
    expect(ajv.compile(formOf(model))(given)).toBe(false);
    expect(validateProperties(model, given)).toMatchObject({ ok: false });
  });
});

test.each([
  'getSubscriptionAlerts',
  'createSubscriptionAlert',
  'deleteAllSubscriptionAlerts',
  'getSubscriptionAlert',
  'updateSubscriptionAlert',
  'deleteSubscriptionAlert',
])('%s takes the status of the subscription', (operation) => {
  expect(parameterOf(operation, 'subscription_status')?.schema.enum).toContain('active');
});

test('every operation is described with its purpose and permission, under a tag of the document', () => {
  const tags = (document as unknown as { tags: { name: string }[] }).tags.map(({ name }) => name);
  for (const name of operations.filter(({ hidden }) => !hidden).map((operation) => operation.name)) {
    const { description, tags: used } = operationOf(name);
    expect(description, name).toMatch(/\w.*\. (?:The API key needs `|Any API key)/);
    expect(tags).toEqual(expect.arrayContaining(used));
  }
});

test('what a custom payment provider has to answer is described as webhooks, each signed', () => {
  const { webhooks } = document as unknown as {
    webhooks: Record<string, { post: { operationId: string; parameters: { name: string }[]; responses: object } }>;
  };
  const asked = Object.values(webhooks).filter(({ post }) => post.operationId.startsWith('provider.'));
  expect(asked.map(({ post }) => post.operationId.slice('provider.'.length))).toEqual([
    'check',
    'customer.create',
    'methods.list',
    'setup_page.create',
    'payment_page.create',
    'page.expire',
    'charge.create',
    'payment.read',
    'payment.cancel',
    'refund.create',
    'refund.read',
    'payments.list',
  ]);
  for (const { post } of asked) {
    expect(post.parameters.map(({ name }) => name)).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature']);
    expect(Object.keys(post.responses)).toEqual(['200', '202', '409', '422', '429']);
  }
});
