import type { Redis } from 'ioredis';
import { paced } from '../../../platform/payments/paced-jobs.ts';
import { openProviderCalls } from '../../../platform/payments/provider-calls.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import type { NetworkDeps } from '../provider-network/network.ts';
import { lookAfterRefund, refundOverNetwork } from '../refund-notes/refund-over-network.ts';
import { releaseAuthorization } from './authorizations.ts';
import { cancelOverNetwork } from './cancel-over-network.ts';
import { chargeOverNetwork, pollPayment } from './charge-over-network.ts';
import { connectProvider, createCustomerThere, openPageThere } from './connect.ts';
import { importMethods } from './import-methods.ts';

/** What the payments pool does: everything that goes to a payment provider over the network. */
export function paymentHandlers(
  deps: SystemDeps & { redis: Redis },
): Pick<
  Handlers,
  | 'payment.charge'
  | 'payment.look-after'
  | 'payment.cancel'
  | 'payment.refund'
  | 'payment.look-after-refund'
  | 'payment.release-authorization'
  | 'payment.connect'
  | 'payment.create-customer'
  | 'payment.import-methods'
  | 'payment.open-page'
> {
  const { REDIS_PREFIX: prefix, PROVIDER_CALLS_PER_SECOND: perSecond } = deps.config;
  const callsOf = openProviderCalls(deps.redis, { prefix, perSecond });

  // Somebody waits for the address of a page.
  const waitedCallsOf = openProviderCalls(deps.redis, { prefix, perSecond, isWaited: true });

  const inTurn = <Payload>(run: (network: NetworkDeps, payload: Payload) => Promise<void>) =>
    paced(callsOf, (payload: Payload, calls) => run({ ...deps, calls }, payload));

  return {
    'payment.charge': inTurn(chargeOverNetwork),
    'payment.look-after': inTurn(pollPayment),
    'payment.cancel': inTurn(cancelOverNetwork),
    'payment.refund': inTurn(refundOverNetwork),
    'payment.look-after-refund': inTurn(lookAfterRefund),
    'payment.release-authorization': inTurn(releaseAuthorization),
    'payment.connect': inTurn(connectProvider),
    'payment.create-customer': inTurn(createCustomerThere),
    'payment.import-methods': inTurn(importMethods),
    'payment.open-page': paced(waitedCallsOf, (payload, calls) => openPageThere({ ...deps, calls }, payload)),
  };
}
