import type { Redis } from 'ioredis';
import { TooManyCalls } from '../../../platform/payments/port.ts';
import { Later, openProviderCalls } from '../../../platform/payments/provider-calls.ts';
import type { Handlers, JobInfo } from '../../../platform/queue/worker.ts';
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

  /**
   * A job whose turn has not come, or of which the provider says that it was one call too many, comes back later and
   * uses no attempt. Rule: provider-connections.md#many-calls.
   */
  const inTurn =
    <Payload>(run: (network: NetworkDeps, payload: Payload) => Promise<void>) =>
    async (payload: Payload, info: JobInfo): Promise<void> => {
      const calls = callsOf(info.id);
      try {
        await run({ ...deps, calls }, payload);
      } catch (error) {
        if (error instanceof Later) return info.comeBack(error.delayMs);
        const pauseMs = error instanceof TooManyCalls ? await calls.pauseAfterRefusal(error.saidMs) : undefined;
        if (pauseMs === undefined) throw error;
        return info.comeBack(pauseMs);
      }
    };

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
    'payment.open-page': inTurn(openPageThere),
  };
}
