import type { Operation } from '../../../platform/operation.ts';
import { createSection, deleteSection, updateSection } from './commands.ts';
import { listSectionsPage, showSection } from './reads.ts';
import { SectionCreate, SectionEnvelope, SectionList, SectionsQuery, SectionUpdate } from './schema.ts';

const common = {
  permission: 'invoice_custom_section',
  tag: 'invoice_custom_sections',
  answer: SectionEnvelope,
} as const;

const update: Operation = {
  ...common,
  name: 'updateInvoiceCustomSection',
  method: 'put',
  path: '/invoice_custom_sections/:code',
  summary: 'Update a custom section',
  root: 'invoice_custom_section',
  body: SectionUpdate,
  kind: 'command',
  run: updateSection,
};

export const invoiceCustomSectionOperations: Operation[] = [
  {
    ...common,
    name: 'createInvoiceCustomSection',
    method: 'post',
    path: '/invoice_custom_sections',
    summary: 'Create a custom section',
    root: 'invoice_custom_section',
    body: SectionCreate,
    kind: 'command',
    run: createSection,
  },
  {
    ...common,
    name: 'findAllInvoiceCustomSections',
    method: 'get',
    path: '/invoice_custom_sections',
    summary: 'List custom sections',
    query: SectionsQuery,
    answer: SectionList,
    kind: 'read',
    run: listSectionsPage,
  },
  {
    ...common,
    name: 'findInvoiceCustomSection',
    method: 'get',
    path: '/invoice_custom_sections/:code',
    summary: 'Retrieve a custom section',
    kind: 'read',
    run: showSection,
  },
  update,
  { ...update, name: 'patchInvoiceCustomSection', method: 'patch', hidden: true },
  {
    ...common,
    name: 'destroyInvoiceCustomSection',
    method: 'delete',
    path: '/invoice_custom_sections/:code',
    summary: 'Delete a custom section',
    kind: 'command',
    run: deleteSection,
  },
];
