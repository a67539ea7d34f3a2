import { AsyncLocalStorage } from 'node:async_hooks';
import type { Hold } from './hold.ts';

export type Properties = Readonly<Record<string, string | number | boolean>>;

/** Whose calls are made, and what stands beside them. */
export interface CallContext {
  /** External id of the subscription. */
  subscription?: string;
  /** Added to those of the contexts around. */
  properties?: Properties;
}

interface Inner extends CallContext {
  hold?: Hold;
}

const storage = new AsyncLocalStorage<Inner>();

export const currentContext = (): Inner => storage.getStore() ?? {};

/** Runs `work`; calls of models within it are of this subscription, and their events have these properties. */
export const withMeter = <Result>(context: CallContext, work: () => Result): Result =>
  storage.run(merged(context), work);

export const withHold = <Result>(hold: Hold, context: CallContext, work: () => Result): Result =>
  storage.run({ ...merged(context), hold }, work);

function merged(context: CallContext): Inner {
  const around = currentContext();
  const subscription = context.subscription ?? around.subscription;
  return {
    ...around,
    ...(subscription === undefined ? {} : { subscription }),
    properties: { ...around.properties, ...context.properties },
  };
}
