import type { Operation } from '../../../platform/operation.ts';
import { showMail, showMails } from './reads.ts';
import { retryMail } from './retry-mail.ts';
import { MailEnvelope, MailList, MailsQuery } from './schema.ts';

const common = { permission: 'mail', tag: 'mails' } as const;

/** What became of the mails of an organization, address by address. Rule: mails.md#the-log. */
export const mailOperations: Operation[] = [
  {
    ...common,
    name: 'findAllMails',
    method: 'get',
    path: '/mails',
    summary: 'List mails with the state of each recipient',
    query: MailsQuery,
    answer: MailList,
    kind: 'read',
    run: showMails,
  },
  {
    ...common,
    name: 'findMail',
    method: 'get',
    path: '/mails/:svc_id',
    summary: 'Retrieve a mail as it is sent',
    answer: MailEnvelope,
    kind: 'read',
    run: showMail,
  },
  {
    ...common,
    name: 'retryMail',
    method: 'post',
    path: '/mails/:svc_id/retry',
    summary: 'Send a mail again that did not go out',
    answer: MailEnvelope,
    kind: 'command',
    run: retryMail,
  },
];
