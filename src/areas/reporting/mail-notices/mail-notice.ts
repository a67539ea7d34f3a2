import { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { StepPayload } from '../../../steps.ts';
import { composeMail } from '../../messaging/mails/compose-mail.ts';
import { isMailOn } from '../../messaging/mails/mail-issuer.ts';
import { addressed, postMail } from '../../messaging/mails/post-mail.ts';
import { templateOf } from '../../messaging/mails/templates.ts';
import type { FindNotice } from './notice.ts';
import { findEndpointNotice, findKeyNotice } from './people-notices.ts';
import { findEndingNotice, findTrialNotice, findUsageNotice } from './subscription-notices.ts';
import { findTopUpNotice, findWalletNotice } from './wallet-notices.ts';

export type NoticeTemplate = StepPayload<'mail-notice'>['template'];

const FINDERS: Record<NoticeTemplate, FindNotice> = {
  wallet_low: findWalletNotice,
  top_up_failed: findTopUpNotice,
  trial_ending: findTrialNotice,
  subscription_ending: findEndingNotice,
  usage_alert: findUsageNotice,
  endpoint_disabled: findEndpointNotice,
  key_created: findKeyNotice,
};

/** The notice about a record; undefined where there is nothing to tell, or no longer. */
export const findNotice = (ctx: Context, template: NoticeTemplate, id: string, occasion?: string) =>
  FINDERS[template](ctx, id, occasion);

/** What happened longer ago is no news: work that waited for days mails nobody. */
const NEWS_HOURS = 24;

/**
 * Mails what happened to a wallet, a subscription, an endpoint or a key, where its issuer has such mails sent: once for
 * each occasion, and only while it is news and still so.
 *
 * Rules: mails.md#templates, mails.md#each-mail-once.
 */
export async function mailNotice(
  ctx: Context,
  { template, resource_id: id, occasion, at }: StepPayload<'mail-notice'>,
): Promise<void> {
  // Endpoints and keys live in real time, also beside a test clock.
  const now = templateOf(template).setting === 'always' ? realNow() : ctx.now();
  if (Temporal.Instant.compare(now, Temporal.Instant.from(at).add({ hours: NEWS_HOURS })) > 0) return;
  const notice = await findNotice(ctx, template, id, occasion);
  if (!notice || notice.to.length === 0 || !(await isMailOn(ctx, notice.billingEntityId, template))) return;
  const content = await notice.content();
  await postMail(ctx, {
    ...addressed(content),
    ...(await composeMail(ctx, content)),
    to: notice.to,
    resource: { type: notice.resourceType, id },
    occasion,
    isAutomatic: true,
  });
}
