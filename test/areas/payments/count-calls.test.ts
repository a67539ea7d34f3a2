import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { counted } from '../../../src/areas/payments/provider-network/count-calls.ts';
import { createMetrics } from '../../../src/platform/metrics/metrics.ts';
import {
  CredentialsRefused,
  type PaymentProvider,
  ProviderConflict,
  ProviderRefusal,
  ReadRefused,
  TooManyCalls,
} from '../../../src/platform/payments/port.ts';
import { Outage } from '../../../src/platform/refusal.ts';
import type { Client } from '../../support/client.ts';
import { FAKE_KEY, type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

const error = { code: 'resource_missing', message: 'No such payment' };
const locked = { code: 'forbidden', message: 'No such right', httpStatus: 403 };
const answers = (result: unknown) => async () => result;
const fails = (thrown: Error) => async () => {
  throw thrown;
};

describe('what became of a call', () => {
  test.each<[outcome: string, method: () => Promise<unknown>]>([
    ['answered', answers({ kind: 'answered', status: 'succeeded', paymentStatus: 'succeeded' })],
    ['answered', answers({ kind: 'answered', status: 'declined', paymentStatus: 'failed', error })],
    ['answered', answers(undefined)],
    ['refused', answers({ ok: false, error })],
    ['credentials_refused', answers({ kind: 'unreachable', error: locked })],
    ['conflict', answers({ kind: 'conflict', error })],
    ['unreachable', answers({ kind: 'unreachable', error })],
    ['refused', fails(new ProviderRefusal(error))],
    ['refused', fails(new ReadRefused('stripe', undefined, error))],
    ['credentials_refused', fails(new ProviderRefusal(locked))],
    ['credentials_refused', fails(new CredentialsRefused('stripe', undefined, 401))],
    ['conflict', fails(new ProviderConflict(error))],
    ['limited', fails(new TooManyCalls('stripe', undefined, 1000))],
    ['unreachable', fails(new Outage('stripe', 'ECONNRESET'))],
    ['failed', fails(new TypeError('a fault of the driver'))],
  ])('is counted as %s, and the caller gets what it would get without the count (%#)', async (outcome, readPayment) => {
    const metrics = createMetrics('test');
    const provider = counted({ metrics }, 'stripe', { readPayment } as unknown as PaymentProvider);
    const plain = await Promise.allSettled([readPayment()]);
    expect(await Promise.allSettled([provider.readPayment('pi_1')])).toEqual(plain);
    const { values } = await metrics.providerCalls.get();
    expect(values).toMatchObject([{ labels: { type: 'stripe', operation: 'read_payment', outcome }, value: 1 }]);
  });

  test('an operation that the driver lacks stays absent', () => {
    const provider = counted({ metrics: createMetrics('test') }, 'stripe', {} as PaymentProvider);
    expect(provider.authorize).toBeUndefined();
  });
});

describe('calls of the service', () => {
  let service: TestService;
  let stripe: FakeStripe;
  let client: Client;
  beforeAll(async () => {
    stripe = await fakeStripe();
    service = await startService({ settings: { STRIPE_API_URL: stripe.url } });
    client = await service.org();
  });
  afterAll(async () => {
    await service.stop();
    await stripe.close();
  });

  const connect = (code: string, secretKey: string) =>
    client.post('/payment_providers', {
      payment_provider: { type: 'stripe', code, name: 'Main', secret_key: secretKey },
    });
  const lines = async (): Promise<string[]> => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return text.split('\n').filter((line) => line.startsWith('meterstone_provider_calls_total{'));
  };
  /** How many calls the metrics show, in all processes together. */
  const shown = async (operation: string, outcome: string): Promise<number> =>
    (await lines())
      .filter((line) => line.includes('type="stripe"') && line.includes(`operation="${operation}"`))
      .filter((line) => line.includes(`outcome="${outcome}"`))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);

  test('appear in the metrics: a check with a wrong key, an accepted one, and the registration after it', async () => {
    expect(await connect('wrong', 'sk_test_wrong_9876')).toMatchObject({ status: 422 });
    expect(await shown('check', 'credentials_refused')).toBe(1);
    await ok(connect('main', FAKE_KEY));
    await until(async () => ((await shown('register_inbound', 'answered')) === 1 ? true : undefined));
    // One by the command that waits, one by the job that registers.
    expect(await shown('check', 'answered')).toBe(2);
    expect((await lines()).join('\n')).not.toContain(FAKE_KEY);
  });
});
