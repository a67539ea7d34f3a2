import { z } from 'zod';
import type { Operation } from '../../../platform/operation.ts';
import { exportEDocuments, showArchiveRoots } from './reads.ts';
import { ArchiveRootList, ArchiveRootsQuery, ExportQuery } from './schema.ts';

/** The chain over the electronic documents that were handed out. Rule: e-documents.md#archive. */
export const archiveOperations: Operation[] = [
  {
    name: 'findAllArchiveRoots',
    method: 'get',
    path: '/archive_roots',
    kind: 'read',
    permission: 'e_document',
    tag: 'e_documents',
    summary: 'List the daily roots of the archive of electronic documents',
    query: ArchiveRootsQuery,
    answer: ArchiveRootList,
    run: showArchiveRoots,
  },
  {
    name: 'exportEDocuments',
    method: 'get',
    path: '/e_documents/export',
    kind: 'read',
    permission: 'e_document',
    tag: 'e_documents',
    summary: 'Retrieve all electronic documents of a period as one ZIP file',
    query: ExportQuery,
    answer: z.null(),
    fileType: 'application/zip',
    run: exportEDocuments,
  },
];
