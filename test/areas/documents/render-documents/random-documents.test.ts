import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Profile } from '../../../../src/engine/e-documents/profiles.ts';
import { inLongRun } from '../../../support/long-run.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { ok } from '../../../support/words.ts';
import { CURRENCIES, KINDS, NAMES, OUTSIDE, type Play, play, TAXES } from './random-sales.ts';
import { brokenSums, keyOf, type Read, readDocument } from './read-document.ts';

// From prices, taxes and coupons over HTTP to the file that a receiver reads: what the file says is what is stored, and
// what is stored is computed once more here. Rule: e-documents.md#amounts.

let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-03-01T10:00:00Z');
  const { client } = story;
  const numbers = { tax_identification_number: 'DE123456789', address_line1: 'Hauptstr. 1', legal_name: 'Muster GmbH' };
  const contact = { email: 'billing@muster.example', phone: '+49 30 123456' };
  await ok(
    client.put('/organizations', {
      organization: { country: 'DE', city: 'Berlin', zipcode: '10115', ...numbers, ...contact },
    }),
  );
  const { billing_entities: entities } = await ok(client.get('/billing_entities'));
  await ok(
    client.put(`/billing_entities/${entities[0].code}`, {
      billing_entity: {
        ...contact,
        e_invoicing: { contact_name: 'Billing', tax_registration: '30/123/45678' },
        bank_accounts: [{ iban: 'DE89370400440532013000', holder: 'Muster GmbH' }],
      },
    }),
  );
  for (const tax of TAXES) await story.tax(tax.rate, { ...tax, name: tax.code, applied_to_organization: false });
  for (const currency of Object.keys(CURRENCIES))
    await story.addOn(`item-${currency}`, 100, { amount_currency: currency });
});
afterAll(() => service.stop());

let count = 0;

/** The invoice of a new customer who buys what the play says. */
async function billed({ currency, isOutside, planCents, lines, percentOff, centsOff }: Play): Promise<Invoice> {
  count += 1;
  const id = `c${count}`;
  const { client } = story;
  const taxesOf = (kind: string) => (isOutside ? OUTSIDE : KINDS[kind]!).taxes;
  await story.customer({
    external_id: id,
    currency,
    legal_name: NAMES[count % NAMES.length],
    country: 'FR',
    city: 'Paris',
    zipcode: '75001',
    legal_number: '732829320',
    tax_identification_number: 'FR44732829320',
    email: `${id}@client.example`,
    shipping_address: { country: 'FR', city: 'Paris', zipcode: '75001' },
    e_invoicing: { buyer_reference: 'PO 7' },
  });
  await story.plan({
    code: id,
    amount_cents: planCents,
    amount_currency: currency,
    pay_in_advance: true,
    tax_codes: taxesOf('s19'),
    fixed_charges: lines.map(({ kind, units, price, name }, index) => ({
      add_on_code: `item-${currency}`,
      code: `f${index}`,
      charge_model: 'standard',
      units,
      pay_in_advance: true,
      invoice_display_name: NAMES[name],
      properties: { amount: String(price) },
      tax_codes: taxesOf(kind),
    })),
  });
  const off = { frequency: 'once', expiration: 'no_expiration' };
  const coupons = [
    ...(percentOff > 0 ? [{ coupon_type: 'percentage', percentage_rate: String(percentOff) }] : []),
    ...(centsOff > 0 ? [{ coupon_type: 'fixed_amount', amount_cents: centsOff, amount_currency: currency }] : []),
  ];
  for (const [index, coupon] of coupons.entries()) {
    const code = `${id}-${index}`;
    await ok(client.post('/coupons', { coupon: { name: code, code, ...off, ...coupon } }));
    await ok(client.post('/applied_coupons', { applied_coupon: { external_customer_id: id, coupon_code: code } }));
  }
  await ok(story.subscribe({ external_customer_id: id, external_id: id, plan_code: id }));
  return (await story.invoices(1, id))[0];
}

/** Items of a note over a part of each fee that is left, and the note; undefined where nothing is left to credit. */
async function noted(invoice: Invoice, parts: readonly number[]): Promise<Invoice | undefined> {
  const { client } = story;
  const fresh = await story.invoice(invoice.svc_id);
  const items = fresh.fees
    .map((fee: Invoice, index: number) => ({
      fee_id: fee.svc_id,
      amount_cents: Math.floor((fee.amount_cents * parts[index % parts.length]!) / 100),
    }))
    .filter(({ amount_cents: cents }: { amount_cents: number }) => cents > 0);
  if (items.length === 0) return undefined;
  const asked = await client.post('/credit_notes/estimate', { credit_note: { invoice_id: invoice.svc_id, items } });
  if (asked.status !== 200) return undefined;
  const cents = asked.body.estimated_credit_note.max_creditable_amount_cents;
  if (cents === 0) return undefined;
  const { credit_note: made } = await ok(
    client.post('/credit_notes', { credit_note: { invoice_id: invoice.svc_id, items, credit_amount_cents: cents } }),
  );
  return made;
}

async function documentOf(path: string, profile: Profile): Promise<Read> {
  const body = await ok(story.client.post(`${path}/download_xml?profile=${profile}`));
  const { pathname, search } = new URL((body.invoice ?? body.credit_note).xml_url);
  const answer = await fetch(`${service.url}${pathname}${search}`);
  expect(answer.status).toBe(200);
  return readDocument(await answer.text(), profile);
}

/** What each fee is, by the taxes that it bears. */
const kindsOf = (fees: Invoice[]) =>
  fees.map(({ applied_taxes: applied }) => {
    const codes = applied.map(({ tax_code: code }: Invoice) => code).toSorted();
    const kind = [...Object.values(KINDS), OUTSIDE].find(({ taxes }) => `${taxes.toSorted()}` === `${codes}`);
    expect(kind, `${codes}`).toBeDefined();
    return kind!;
  });

/** Sells, gives back, and compares what the files say with what is stored. */
async function playAndCompare(played: Play): Promise<void> {
  const unit = CURRENCIES[played.currency]!;
  const stored = (cents: number) => BigInt(cents) * unit;
  const invoice = await billed(played);
  const kinds = kindsOf(invoice.fees);
  const read = await documentOf(`/invoices/${invoice.svc_id}`, played.profile);
  expect(brokenSums(read, unit)).toEqual([]);
  expect(read.lines.map(({ amount }) => amount).toSorted()).toEqual(
    invoice.fees.map((fee: Invoice) => stored(fee.amount_cents)).toSorted(),
  );
  expect(read.total).toMatchObject({
    lines: stored(invoice.fees_amount_cents),
    net: stored(invoice.sub_total_excluding_taxes_amount_cents),
    tax: stored(invoice.taxes_amount_cents),
    gross: stored(invoice.sub_total_including_taxes_amount_cents),
    payable: stored(invoice.total_amount_cents),
  });
  const rounding = read.total.allowances - read.total.charges - stored(invoice.coupons_amount_cents);
  expect(rounding).toBe(0n);
  const keys = new Set(kinds.map(({ category, rate }) => keyOf(category, rate)));
  expect(new Set(read.rows.map(({ key }) => key))).toEqual(keys);
  for (const row of read.rows) {
    const here = invoice.fees.filter(
      (_: Invoice, index: number) => keyOf(kinds[index]!.category, kinds[index]!.rate) === row.key,
    );
    const amount = here.reduce((sum: number, fee: Invoice) => sum + fee.amount_cents, 0);
    const off = here.reduce((sum: number, fee: Invoice) => sum + Number(fee.precise_coupons_amount_cents), 0);
    expect(Math.abs(Number(row.net) / Number(unit) - (amount - off)), row.key).toBeLessThan(1);
  }
  for (const parts of played.notes) {
    const note = await noted(invoice, parts);
    if (!note) continue;
    const said = await documentOf(`/credit_notes/${note.svc_id}`, played.profile);
    expect(brokenSums(said, unit)).toEqual([]);
    expect(said.total).toMatchObject({
      lines: stored(note.items.reduce((sum: number, { amount_cents: cents }: Invoice) => sum + cents, 0)),
      net: stored(note.sub_total_excluding_taxes_amount_cents),
      tax: stored(note.taxes_amount_cents),
      payable: stored(note.total_amount_cents),
    });
  }
}

test(
  'what a receiver reads is what is stored, whatever is sold, taken off and given back',
  () => fc.assert(fc.asyncProperty(play, playAndCompare), { numRuns: inLongRun(400, 20) }),
  inLongRun(3_600_000, 300_000),
);
