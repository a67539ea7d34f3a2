import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import { limitOf, pageMeta } from '../../../platform/lists/pagination.ts';
import { Answer, type Operation } from '../../../platform/operation.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { documentLinks } from '../../messaging/documents/signed-link.ts';
import { withPayLinks } from '../../messaging/mails/pay-link.ts';
import { confirmPayment, finishCheckout } from './commands.ts';
import {
  CheckoutEnvelope,
  CheckoutFinish,
  Confirmation,
  ConfirmationEnvelope,
  MailList,
  MailsQuery,
  Nothing,
} from './schema.ts';

interface MailRow {
  recipients: string[];
  bcc: string[];
  subject: string;
  body: string;
  html: string | null;
  attachments: { file_name: string; content_type: string; size_bytes: number; svc_document_id: string }[];
  created_at: Temporal.Instant;
}

async function listMails(ctx: Context, { query }: { query: MailsQuery }) {
  const { limit, offset } = limitOf(query);
  const [rows, [count]] = await Promise.all([
    ctx.db<MailRow[]>`
      select recipients, bcc, subject, body, html, attachments, created_at from sandbox_mails
      where organization_id = ${ctx.organizationId}
      order by created_at desc, id desc limit ${limit} offset ${offset}`,
    ctx.db<{ total: number }[]>`
      select count(*) as total from sandbox_mails where organization_id = ${ctx.organizationId}`,
  ]);
  const documentIds = rows.flatMap(({ attachments }) => attachments.map((file) => file.svc_document_id));
  const links = await documentLinks(ctx.db, ctx.config, documentIds);
  const texts = await withPayLinks(
    ctx,
    rows.flatMap(({ body, html }) => [body, html ?? '']),
  );
  const mails = rows.map((row, n) => ({
    to: row.recipients,
    bcc: row.bcc,
    subject: row.subject,
    text: texts[2 * n]!,
    html: row.html === null ? null : texts[2 * n + 1]!,
    attachments: row.attachments.map(({ svc_document_id: id, ...file }) => ({ ...file, file_url: links.get(id)! })),
    created_at: seconds(row.created_at),
  }));
  return { mails, meta: pageMeta(query, count!.total) };
}

async function deleteMails(ctx: Context) {
  await ctx.db`delete from sandbox_mails where organization_id = ${ctx.organizationId}`;
  return new Answer({});
}

/** Actions of a provider, or of a customer on its pages. Rule: provider-connections.md#sandbox-provider. */
export const sandboxOperations: Operation[] = [
  {
    name: 'confirmSandboxPayment',
    method: 'post',
    path: '/sandbox/payments/:svc_id/confirm',
    permission: 'payment',
    tag: 'sandbox',
    summary: 'Confirm a payment as its customer',
    description: 'Stands for what a person does on the page of a bank.',
    body: Confirmation,
    answer: ConfirmationEnvelope,
    kind: 'command',
    run: confirmPayment,
  },
  {
    name: 'finishSandboxCheckout',
    method: 'post',
    path: '/sandbox/checkouts/:token',
    permission: 'payment',
    tag: 'sandbox',
    summary: 'Finish a hosted page as its customer',
    root: 'checkout',
    body: CheckoutFinish,
    answer: CheckoutEnvelope,
    kind: 'command',
    run: finishCheckout,
  },
  {
    name: 'findAllSandboxMails',
    method: 'get',
    path: '/sandbox/mails',
    permission: 'payment',
    tag: 'sandbox',
    summary: 'List mails that would have been sent',
    query: MailsQuery,
    answer: MailList,
    kind: 'read',
    run: listMails,
  },
  {
    name: 'destroySandboxMails',
    method: 'delete',
    path: '/sandbox/mails',
    permission: 'payment',
    tag: 'sandbox',
    summary: 'Forget all mails',
    answer: Nothing,
    kind: 'command',
    run: deleteMails,
  },
];
