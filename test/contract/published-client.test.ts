import { afterAll, beforeAll, expect, test } from 'vitest';
import { logNotifications } from '../support/exchange-log.ts';
import { startService, type TestService } from '../support/service.ts';
import { watchAnswers } from './described-answers.ts';
import { fillCatalog, fillPlans, grantFeatures, settleOrganization } from './published-client/catalog.ts';
import {
  applyCoupons,
  fillCustomerWallet,
  fillWallets,
  keepCards,
  meetCustomers,
} from './published-client/customers.ts';
import { closeDeals } from './published-client/deals.ts';
import { takeDown } from './published-client/endings.ts';
import {
  collect,
  creditBack,
  finishDraft,
  invoiceByHand,
  retryFailed,
  throwDraftAway,
} from './published-client/invoices.ts';
import { openPublishedClient } from './published-client/open-client.ts';
import { lookBack, report } from './published-client/reports.ts';
import { type ClientStory, openClientStory } from './published-client/story.ts';
import { chargeAtOnce, grantApart, meter, priceApart, subscribe, watch } from './published-client/subscriptions.ts';

// The client that users of this interface already have, driven through the life of an organization: each of its methods
// works at least once. Rule: everywhere.md#wire-prefix.
const answers = watchAnswers();
let service: TestService;
let story: ClientStory;

beforeAll(async () => {
  service = await startService({ settings: { WIRE_PREFIX: 'lago' } });
  story = await openClientStory(service, openPublishedClient, '2024-01-01T00:00:00Z');
});
afterAll(async () => {
  await logNotifications(service.sql);
  await service.stop();
});

const CHAPTERS: [string, (story: ClientStory) => Promise<void>][] = [
  ['an organization settles', settleOrganization],
  ['the catalog is filled', fillCatalog],
  ['plans are made', fillPlans],
  ['features are granted', grantFeatures],
  ['customers come', meetCustomers],
  ['cards are kept', keepCards],
  ['coupons are applied', applyCoupons],
  ['wallets are filled', fillWallets],
  ['wallets of a customer are filled', fillCustomerWallet],
  ['they subscribe', subscribe],
  ['one is priced apart', priceApart],
  ['one is granted apart', grantApart],
  ['usage is watched', watch],
  ['usage is metered', meter],
  ['fees are charged at once', chargeAtOnce],
  ['invoices are made by hand', invoiceByHand],
  ['deals are closed', closeDeals],
  ['a month passes', ({ advance }) => advance('2024-02-02T00:00:00Z')],
  ['a draft is finished', finishDraft],
  ['money is credited back', creditBack],
  ['another month passes', ({ advance }) => advance('2024-03-02T00:00:00Z')],
  ['what failed is tried again', retryFailed],
  ['a third month passes', ({ advance }) => advance('2024-04-02T00:00:00Z')],
  ['what is due is collected', collect],
  ['a draft is thrown away', throwDraftAway],
  ['reports are read', report],
  ['logs are read', lookBack],
  ['everything ends', takeDown],
];

test.each(CHAPTERS)('the published client works: %s', (_, tell) => tell(story));

test('every method of the published client was called and worked', () => {
  expect(story.methods).toHaveLength(217);
  expect(story.methods.filter((method) => !story.called.has(method))).toEqual([]);
});

test('every answer to the published client has the form of the API description', () => {
  expect([...answers.differences]).toEqual([]);
  expect(answers.succeeded.size).toBe(217);
});

test('the published client sends no unknown field except what its path already says', () => {
  expect([...answers.ignored]).toEqual(['createCustomerWallet: external_customer_id']);
});
