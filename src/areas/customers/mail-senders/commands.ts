import { timingSafeEqual } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { columnValues } from '../../../platform/db/values.ts';
import { newId } from '../../../platform/ids.ts';
import { linkSecrets } from '../../../platform/keys/deployment-keys.ts';
import { Answer } from '../../../platform/operation.ts';
import { refuse } from '../../../platform/refusal.ts';
import { INVALID } from '../../../platform/schema/fields.ts';
import { readMailIssuer } from '../../messaging/mails/mail-issuer.ts';
import { findSender, type SenderRow } from '../../messaging/mails/mail-sender.ts';
import { codeOf } from '../../messaging/mails/pay-link.ts';
import { recordSettings } from '../billing-entities/announce.ts';
import { type BillingEntityRow, getBillingEntity, lockBillingEntity } from '../billing-entities/queries.ts';
import { mailCode } from './code-mail.ts';
import type { MailSenderEnvelope, MailSenderUpdate, MailSenderVerification } from './schema.ts';

const CODE_MINUTES = 30;
const CODE_TRIES = 5;
const CODES_A_DAY = 5;

const NONE: SenderRow = {
  from_name: null,
  from_address: null,
  reply_to: null,
  bcc_issuer: false,
  verified_at: null,
  code_id: null,
  code_expires_at: null,
  code_tries: 0,
  codes_on: null,
  codes_sent: 0,
};

/** @throws Refusal 404 billing_entity */
export async function showMailSender(ctx: Context, { code }: { code: string }): Promise<MailSenderEnvelope> {
  const entity = await getBillingEntity(ctx, code);
  return viewOf((await findSender(ctx, entity.id)) ?? NONE);
}

/**
 * Chooses from whom an issuer's mails come; what is absent stays. A `from_address` that is sent and not verified gets a
 * code, which proves that it is the seller's; addresses of MAIL_FROM_DOMAINS need none.
 *
 * @throws Refusal 404 billing_entity; 422 from_address: invalid_count, of the sixth code of a day
 * Rule: mails.md#senders.
 */
export async function updateMailSender(
  ctx: Context,
  { code, body }: { code: string; body: MailSenderUpdate },
): Promise<MailSenderEnvelope> {
  const entity = await lockBillingEntity(ctx, code);
  const stored = (await findSender(ctx, entity.id)) ?? NONE;
  const sent = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  const sender: SenderRow = { ...stored, ...sent };
  if (sender.from_address !== stored.from_address)
    Object.assign(sender, { verified_at: null, code_id: null, code_expires_at: null, code_tries: 0 });
  const asked = body.from_address;
  if (asked && sender.verified_at === null) {
    if (isOfDomains(asked, ctx.config.MAIL_FROM_DOMAINS)) sender.verified_at = realNow();
    else await sendCode(ctx, entity, sender);
  }
  await store(ctx, entity, sender);
  announce(ctx, entity, viewOf(stored), viewOf(sender));
  return viewOf(sender);
}

/**
 * Tells the code that was mailed to a seller's address: it then stands in the seller's mails.
 *
 * @returns 422 code: value_is_invalid, of a wrong one: an answer, because the try is counted
 * @throws Refusal 404 billing_entity; 405 verification_expired, without a code, after 30 minutes or five tries
 * Rule: mails.md#senders.
 */
export async function verifyMailSender(
  ctx: Context,
  { code, body }: { code: string; body: MailSenderVerification },
): Promise<MailSenderEnvelope | Answer> {
  const entity = await lockBillingEntity(ctx, code);
  const stored = (await findSender(ctx, entity.id)) ?? NONE;
  const { code_id: codeId, code_expires_at: until } = stored;
  if (stored.from_address !== null && stored.verified_at !== null) return viewOf(stored);
  if (codeId === null || until === null || Temporal.Instant.compare(until, realNow()) <= 0)
    throw refuse.notAllowed('verification_expired');
  if (stored.code_tries >= CODE_TRIES) throw refuse.notAllowed('verification_expired');
  if (!(await isCode(ctx, codeId, body.code))) {
    await store(ctx, entity, { ...stored, code_tries: stored.code_tries + 1 });
    const { status, body: refusal } = refuse.invalid({ code: [INVALID] });
    return new Answer(refusal, { status });
  }
  const verified = { ...stored, verified_at: realNow(), code_id: null, code_expires_at: null, code_tries: 0 };
  await store(ctx, entity, verified);
  announce(ctx, entity, viewOf(stored), viewOf(verified));
  return viewOf(verified);
}

/** A code that was mailed before the secret changed counts too. */
async function isCode(ctx: Context, codeId: string, given: string): Promise<boolean> {
  const secrets = await linkSecrets(ctx, 1);
  return secrets.some((secret) => {
    const code = Buffer.from(codeOf(secret, codeId));
    const told = Buffer.from(given);
    return told.length === code.length && timingSafeEqual(told, code);
  });
}

async function sendCode(ctx: Context, entity: BillingEntityRow, sender: SenderRow): Promise<void> {
  const now = realNow();
  const today = now.toZonedDateTimeISO('UTC').toPlainDate();
  const codesSent = sender.codes_on?.equals(today) === true ? sender.codes_sent : 0;
  if (codesSent >= CODES_A_DAY) throw refuse.invalid({ from_address: ['invalid_count'] });
  const codeId = newId();
  Object.assign(sender, {
    code_id: codeId,
    code_expires_at: now.add({ minutes: CODE_MINUTES }),
    code_tries: 0,
    codes_on: today,
    codes_sent: codesSent + 1,
  });
  await mailCode(ctx, await readMailIssuer(ctx, entity.id), {
    to: sender.from_address!,
    codeId,
    minutes: CODE_MINUTES,
  });
}

const isOfDomains = (address: string, domains: readonly string[]): boolean =>
  domains.includes(address.slice(address.lastIndexOf('@') + 1).toLowerCase());

const store = ({ db, organizationId, now }: Context, { id }: BillingEntityRow, sender: SenderRow) => {
  const values = columnValues({ ...sender, updated_at: now() });
  return db`
    insert into mail_senders ${db({ ...values, organization_id: organizationId, billing_entity_id: id })}
    on conflict (organization_id, billing_entity_id) do update set ${db(values)}`;
};

const announce = (
  ctx: Context,
  entity: BillingEntityRow,
  before: MailSenderEnvelope,
  after: MailSenderEnvelope,
): void => recordSettings(ctx, entity, { name: 'mail_sender', before: before.mail_sender, after: after.mail_sender });

const viewOf = ({ from_name, from_address, reply_to, bcc_issuer, verified_at }: SenderRow): MailSenderEnvelope => ({
  mail_sender: {
    from_name,
    from_address,
    reply_to,
    bcc_issuer,
    status: from_address === null ? 'default' : verified_at === null ? 'unverified' : 'verified',
  },
});
