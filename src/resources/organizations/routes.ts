import type { Operation } from '../../platform/operation.ts';
import { showOrganization } from './reads.ts';
import { OrganizationEnvelope, OrganizationUpdate } from './schema.ts';
import { updateOrganization } from './update-organization.ts';

const common = {
  permission: 'organization',
  tag: 'organizations',
  path: '/organizations',
  answer: OrganizationEnvelope,
} as const;

export const organizationOperations: Operation[] = [
  {
    ...common,
    name: 'findOrganization',
    method: 'get',
    summary: 'Retrieve your organization',
    kind: 'read',
    run: showOrganization,
  },
  {
    ...common,
    name: 'updateOrganization',
    method: 'put',
    summary: 'Update your organization',
    root: 'organization',
    body: OrganizationUpdate,
    kind: 'command',
    run: updateOrganization,
  },
];
