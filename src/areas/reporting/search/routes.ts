import type { Operation } from '../../../platform/operation.ts';
import { showSearch } from './reads.ts';
import { SearchEnvelope, SearchQuery } from './schema.ts';

export const searchOperations: Operation[] = [
  {
    name: 'search',
    method: 'get',
    path: '/search',
    permission: null,
    tag: 'search',
    summary: 'Find records by id, code, number or name, of the types that the key may read',
    description: 'Exact matches come first, then beginnings, then parts of names.',
    query: SearchQuery,
    answer: SearchEnvelope,
    kind: 'read',
    run: showSearch,
  },
];
