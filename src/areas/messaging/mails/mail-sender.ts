import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId } from '../../../platform/ids.ts';
import type { MailIssuer } from './mail-issuer.ts';

/** What a billing entity has set of the sender of its mails. */
export interface SenderRow {
  from_name: string | null;
  from_address: string | null;
  reply_to: string | null;
  bcc_issuer: boolean;
  verified_at: Temporal.Instant | null;
  code_id: string | null;
  code_expires_at: Temporal.Instant | null;
  code_tries: number;
  codes_on: Temporal.PlainDate | null;
  codes_sent: number;
}

export async function findSender({ db, organizationId }: Scope, id: BillingEntityId): Promise<SenderRow | undefined> {
  const [row] = await db<SenderRow[]>`
    select from_name, from_address, reply_to, bcc_issuer, verified_at, code_id, code_expires_at, code_tries, codes_on,
      codes_sent
    from mail_senders where organization_id = ${organizationId} and billing_entity_id = ${id}`;
  return row;
}

interface Sender {
  name: string;
  /** The seller's own address; null: that of MAIL_FROM. */
  address: string | null;
  replyTo: string | null;
  /** Who gets a copy. */
  bcc: string[];
}

/**
 * From whom a mail comes. A seller's own address stands there once it is verified; until then mails come from
 * MAIL_FROM, and replies go to the seller. Rule: mails.md#senders.
 */
export async function readSender(
  ctx: Context,
  issuer: Pick<MailIssuer, 'billing_entity_id' | 'name' | 'email'>,
): Promise<Sender> {
  const row = await findSender(ctx, issuer.billing_entity_id);
  const isVerified = row?.from_address != null && row.verified_at !== null;
  return {
    name: row?.from_name ?? issuer.name,
    address: isVerified ? row.from_address : null,
    replyTo: row?.reply_to ?? row?.from_address ?? issuer.email,
    bcc: row?.bcc_issuer === true && issuer.email !== null ? [issuer.email] : [],
  };
}
