import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { openStory } from '../../support/story.ts';
import { until } from '../../support/until.ts';

type Org = Awaited<ReturnType<TestService['org']>>;
type Applied = { code: string; display_name: string; details: string };

let service: TestService;
let org: Org;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  org = await service.org();
  for (const code of ['bank', 'vat', 'thanks'])
    await make({ code, name: `Name of ${code}`, details: `Details of ${code}` });
  await org.post('/add_ons', { add_on: { name: 'Setup', code: 'setup', amount_cents: 5000, amount_currency: 'EUR' } });
  await org.post('/plans', {
    plan: {
      name: 'P',
      code: 'p',
      interval: 'monthly',
      amount_cents: 1000,
      amount_currency: 'EUR',
      pay_in_advance: true,
    },
  });
});

const make = (section: object) => org.post('/invoice_custom_sections', { invoice_custom_section: section });
const codesOf = (sections: readonly { code: string }[]) => sections.map(({ code }) => code);
const customer = (fields: object = {}) => org.post('/customers', { customer: { external_id: 'ada', ...fields } });

async function entitySelects(codes: string[]) {
  const [entity] = (await org.get('/billing_entities')).body.billing_entities;
  return org.put(`/billing_entities/${entity.code}`, { billing_entity: { invoice_custom_section_codes: codes } });
}

async function oneOff(fields: object = {}): Promise<Applied[]> {
  const made = await org.post('/invoices', {
    invoice: { external_customer_id: 'ada', currency: 'EUR', fees: [{ add_on_code: 'setup' }], ...fields },
  });
  expect(made.status).toBe(200);
  return made.body.invoice.applied_invoice_custom_sections;
}

test('a custom section is created, listed by name, shown, changed and deleted', async () => {
  const made = await make({ code: 'legal', name: 'Aaa', description: 'For audits', display_name: 'Legal' });
  expect(made.body.invoice_custom_section).toMatchObject({
    code: 'legal',
    name: 'Aaa',
    description: 'For audits',
    display_name: 'Legal',
    applied_to_organization: false,
    organization_id: org.organization.organization_id,
  });
  expect(made.body.invoice_custom_section).not.toHaveProperty('details');
  const list = await org.get('/invoice_custom_sections');
  expect(codesOf(list.body.invoice_custom_sections)).toEqual(['legal', 'bank', 'thanks', 'vat']);
  expect(list.body.meta.total_count).toBe(4);
  const changed = await org.put('/invoice_custom_sections/legal', {
    invoice_custom_section: { details: 'New', description: null },
  });
  expect(changed.body.invoice_custom_section).toMatchObject({ name: 'Aaa', details: 'New' });
  expect(changed.body.invoice_custom_section).not.toHaveProperty('description');
  expect((await org.delete('/invoice_custom_sections/legal')).status).toBe(200);
  expect((await org.get('/invoice_custom_sections/legal')).body).toMatchObject({
    status: 404,
    resource: 'invoice_custom_section',
  });
});

test('a section code can be used once, and again after its section was deleted', async () => {
  expect((await make({ code: 'bank', name: 'X' })).body.error_details).toEqual({ code: ['value_already_exist'] });
  expect((await make({ code: 'x' })).body.error_details).toEqual({ name: ['value_is_mandatory'] });
  await org.delete('/invoice_custom_sections/bank');
  expect((await make({ code: 'bank', name: 'X' })).status).toBe(200);
});

test('system-generated sections are read-only', async () => {
  await service.sql`
    update invoice_custom_sections set section_type = 'system_generated'
    where organization_id = ${org.organization.organization_id} and code = 'bank'`;
  const refusal = { status: 405, code: 'invalid_status' };
  const put = await org.put('/invoice_custom_sections/bank', { invoice_custom_section: { name: 'X' } });
  expect(put.body).toMatchObject(refusal);
  expect((await org.delete('/invoice_custom_sections/bank')).body).toMatchObject(refusal);
});

test('a billing entity selects sections by code, ignores unknown ones and loses deleted ones', async () => {
  const answer = await entitySelects(['bank', 'nope', 'vat']);
  expect(codesOf(answer.body.billing_entity.selected_invoice_custom_sections)).toEqual(['bank', 'vat']);
  const shown = await org.get('/invoice_custom_sections/bank');
  expect(shown.body.invoice_custom_section.applied_to_organization).toBe(true);
  await org.delete('/invoice_custom_sections/bank');
  const entity = (await org.get(`/billing_entities/${answer.body.billing_entity.code}`)).body.billing_entity;
  expect(codesOf(entity.selected_invoice_custom_sections)).toEqual(['vat']);
});

test('a customer’s own sections replace those of its entity, and a customer may skip all', async () => {
  await entitySelects(['bank']);
  const applicable = async (fields: object) =>
    codesOf((await customer(fields)).body.customer.applicable_invoice_custom_sections);
  expect(await applicable({})).toEqual(['bank']);
  expect(await applicable({ invoice_custom_section_codes: ['vat', 'thanks'] })).toEqual(['vat', 'thanks']);
  expect(await applicable({ skip_invoice_custom_sections: true })).toEqual([]);
  expect(await applicable({ skip_invoice_custom_sections: false })).toEqual(['bank']);
  const both = await customer({ skip_invoice_custom_sections: true, invoice_custom_section_codes: ['vat'] });
  expect(both.body.error_details).toEqual({
    invoice_custom_sections: ['skip_sections_and_selected_ids_sent_together'],
  });
});

test('a one-off invoice prints the sections of its request, else those of the customer', async () => {
  await entitySelects(['bank']);
  await customer();
  expect(await oneOff()).toEqual([
    expect.objectContaining({ code: 'bank', display_name: 'Name of bank', details: 'Details of bank' }),
  ]);
  const choice = (invoice_custom_section: object) => oneOff({ invoice_custom_section });
  expect(codesOf(await choice({ invoice_custom_section_codes: ['vat', 'thanks'] }))).toEqual(['thanks', 'vat']);
  expect(await choice({ skip_invoice_custom_sections: true })).toEqual([]);
  await customer({ skip_invoice_custom_sections: true });
  expect(await oneOff()).toEqual([]);
  expect(codesOf(await choice({ invoice_custom_section_codes: ['vat'] }))).toEqual(['vat']);
});

test('an invoice keeps what it printed when the section changes or goes', async () => {
  await entitySelects(['bank']);
  await customer();
  await oneOff();
  await org.put('/invoice_custom_sections/bank', { invoice_custom_section: { details: 'Other' } });
  await org.delete('/invoice_custom_sections/bank');
  const [invoice] = (await org.get('/invoices')).body.invoices;
  const shown = (await org.get(`/invoices/${invoice.svc_id}`)).body.invoice;
  expect(shown.applied_invoice_custom_sections).toMatchObject([{ code: 'bank', details: 'Details of bank' }]);
});

test.each([
  // sections of two subscriptions   expected
  [[{}, {}], ['bank']],
  [
    [{ invoice_custom_section_codes: ['vat'] }, { invoice_custom_section_codes: ['thanks'] }],
    ['thanks', 'vat'],
  ],
  [
    [{ invoice_custom_section_codes: ['vat'] }, {}],
    ['bank', 'vat'],
  ],
  [[{ invoice_custom_section_codes: ['vat'] }, { skip_invoice_custom_sections: true }], ['vat']],
  [[{ skip_invoice_custom_sections: true }, { skip_invoice_custom_sections: true }], []],
])('subscriptions with sections %j print %j on their common invoice', async (choices, expected) => {
  const sandbox = await service.org({ sandbox: true });
  org = sandbox;
  for (const code of ['bank', 'vat', 'thanks']) await make({ code, name: code });
  await org.post('/test_clock', { test_clock: { frozen_time: '2026-01-10T00:00:00Z' } });
  await entitySelects(['bank']);
  await customer();
  await org.post('/plans', {
    plan: {
      name: 'A',
      code: 'a',
      interval: 'monthly',
      amount_cents: 1000,
      amount_currency: 'EUR',
      pay_in_advance: false,
    },
  });
  for (const [index, invoice_custom_section] of choices.entries()) {
    const made = await org.post('/subscriptions', {
      subscription: { external_customer_id: 'ada', plan_code: 'a', external_id: `s${index}`, invoice_custom_section },
    });
    expect(made.status).toBe(200);
  }
  await org.post('/test_clock/advance', { test_clock: { frozen_time: '2026-02-01T12:00:00Z' } });
  const invoices = await untilInvoices();
  expect(invoices).toHaveLength(1);
  const shown = (await org.get(`/invoices/${invoices[0]!.svc_id}`)).body.invoice;
  expect(shown.billing_periods).toHaveLength(2);
  expect(codesOf(shown.applied_invoice_custom_sections)).toEqual(expected);
});

async function untilInvoices(): Promise<{ svc_id: string }[]> {
  return until(async () => {
    const clock = (await org.get('/test_clock')).body.test_clock;
    return clock.status === 'ready' && (await org.get('/invoices')).body.invoices;
  });
}

test('a subscription shows its own sections, an update replaces them and an upgrade keeps them', async () => {
  await customer();
  await org.post('/plans', {
    plan: {
      name: 'Q',
      code: 'q',
      interval: 'monthly',
      amount_cents: 2000,
      amount_currency: 'EUR',
      pay_in_advance: true,
    },
  });
  const subscribe = (fields: object) =>
    org.post('/subscriptions', { subscription: { external_customer_id: 'ada', external_id: 's', ...fields } });
  const shown = ({ body }: { body: { subscription: { applied_invoice_custom_sections: Selected[] } } }) =>
    body.subscription.applied_invoice_custom_sections.map((selected) => selected.invoice_custom_section.code);
  const made = await subscribe({
    plan_code: 'p',
    invoice_custom_section: { invoice_custom_section_codes: ['bank', 'vat'] },
  });
  expect(shown(made)).toEqual(['bank', 'vat']);
  const put = (invoice_custom_section: object) =>
    org.put('/subscriptions/s', { subscription: { invoice_custom_section } });
  expect(shown(await put({ invoice_custom_section_codes: ['thanks', 'vat'] }))).toEqual(['vat', 'thanks']);
  expect(shown(await subscribe({ plan_code: 'q' }))).toEqual(['vat', 'thanks']);
  const same = await subscribe({ plan_code: 'q', invoice_custom_section: { invoice_custom_section_codes: ['bank'] } });
  expect(shown(same)).toEqual(['bank']);
  expect(shown(await put({ skip_invoice_custom_sections: true }))).toEqual([]);
});

test('an invoice of bought credits prints the sections of its wallet, else those of the customer', async () => {
  await entitySelects(['bank']);
  await customer();
  const wallet = async (code: string, invoice_custom_section?: object) => {
    const made = await org.post('/wallets', {
      wallet: {
        external_customer_id: 'ada',
        code,
        rate_amount: '1',
        currency: 'EUR',
        paid_credits: '10',
        invoice_custom_section,
      },
    });
    expect(made.status).toBe(200);
    return made.body.wallet;
  };
  const printed = (id: string) =>
    until(async () => {
      const [row] = await service.sql<{ codes: string[] }[]>`
        select array(select applied.code from applied_invoice_custom_sections applied
          where applied.invoice_id = invoice.id order by applied.code) as codes
        from wallet_transactions transaction join invoices invoice on invoice.id = transaction.invoice_id
        where transaction.wallet_id = ${id}`;
      return row?.codes;
    });
  const own = await wallet('own', { invoice_custom_section_codes: ['vat'] });
  expect(own.applied_invoice_custom_sections).toMatchObject([{ invoice_custom_section: { code: 'vat' } }]);
  expect(await printed(own.svc_id)).toEqual(['vat']);
  expect(await printed((await wallet('none')).svc_id)).toEqual(['bank']);
  expect(await printed((await wallet('skips', { skip_invoice_custom_sections: true })).svc_id)).toEqual([]);
  const put = await org.put(`/wallets/${own.svc_id}`, {
    wallet: { invoice_custom_section: { invoice_custom_section_codes: ['thanks'] } },
  });
  expect(put.body.wallet.applied_invoice_custom_sections).toMatchObject([
    { invoice_custom_section: { code: 'thanks' } },
  ]);
});

test('a wallet transaction and a top-up rule may choose which sections are printed, or none', async () => {
  const story = await openStory(service, '2024-05-01T10:00:00Z');
  const { client } = story;
  await story.customer();
  for (const code of ['vat', 'thanks', 'bank'])
    await client.post('/invoice_custom_sections', { invoice_custom_section: { code, name: code } });
  const rule = { trigger: 'threshold', threshold_credits: '100', paid_credits: '50' };
  const { wallet } = (
    await client.post('/wallets', {
      wallet: {
        external_customer_id: 'acme',
        rate_amount: '1',
        currency: 'USD',
        invoice_custom_section: { invoice_custom_section_codes: ['vat'] },
        recurring_transaction_rules: [
          { ...rule, invoice_custom_section: { invoice_custom_section_codes: ['thanks'] } },
        ],
      },
    })
  ).body;
  const [stored] = wallet.recurring_transaction_rules;
  expect(stored.applied_invoice_custom_sections.map(codeOf)).toEqual(['thanks']);

  const printed = async (transaction: { svc_invoice_id: string }) =>
    codesOf((await client.get(`/invoices/${transaction.svc_invoice_id}`)).body.invoice.applied_invoice_custom_sections);
  const buy = async (invoice_custom_section?: object) => {
    const asked = {
      wallet_id: wallet.svc_id,
      paid_credits: '5',
      invoice_requires_successful_payment: false,
      invoice_custom_section,
    };
    return (await client.post('/wallet_transactions', { wallet_transaction: asked })).body.wallet_transactions[0];
  };
  const own = await buy({ invoice_custom_section_codes: ['bank', 'thanks', 'nobody'] });
  expect(own.applied_invoice_custom_sections.map(codeOf).sort()).toEqual(['bank', 'thanks']);
  expect(await printed(own)).toEqual(['bank', 'thanks']);
  expect(await printed(await buy())).toEqual(['vat']);
  expect(await printed(await buy({ skip_invoice_custom_sections: true }))).toEqual([]);

  const automatic = async () =>
    (await client.get(`/wallets/${wallet.svc_id}/wallet_transactions`)).body.wallet_transactions.find(
      ({ source }: { source: string }) => source === 'threshold',
    );
  await story.advanceTo('2024-05-01T10:10:00Z');
  expect(await printed(await automatic())).toEqual(['thanks']);

  const change = async (fields: object) =>
    (
      await client.put(`/wallets/${wallet.svc_id}`, {
        wallet: { recurring_transaction_rules: [{ ...rule, svc_id: stored.svc_id, ...fields }] },
      })
    ).body.wallet.recurring_transaction_rules[0].applied_invoice_custom_sections.map(codeOf);
  expect(await change({ transaction_name: 'Refill' })).toEqual(['thanks']);
  expect(await change({ invoice_custom_section: { invoice_custom_section_codes: ['bank'] } })).toEqual(['bank']);
  expect(await change({ invoice_custom_section: { skip_invoice_custom_sections: true } })).toEqual([]);
});

const codeOf = ({ invoice_custom_section: { code } }: Selected) => code;

interface Selected {
  invoice_custom_section: { code: string };
}
