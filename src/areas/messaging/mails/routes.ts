import type { Operation } from '../../../platform/operation.ts';
import { showMails } from './reads.ts';
import { MailList, MailsQuery } from './schema.ts';

/** What became of the mails of an organization, address by address. Rule: organizations.md. */
export const mailOperations: Operation[] = [
  {
    name: 'findAllMails',
    method: 'get',
    path: '/mails',
    permission: 'organization',
    tag: 'mails',
    summary: 'List mails with the state of each recipient',
    query: MailsQuery,
    answer: MailList,
    kind: 'read',
    run: showMails,
  },
];
