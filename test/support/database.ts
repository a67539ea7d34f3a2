import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { connectDatabase, type DatabaseOptions, type Sql } from '../../src/platform/db/connect.ts';
import { TEMPLATE_DATABASE } from './global-setup.ts';

export interface TestDatabase {
  url: string;
  sql: Sql;
  drop(): Promise<void>;
}

/** A migrated database of the test file's own, cloned from the template. */
export const createTestDatabase = (options: DatabaseOptions = {}): Promise<TestDatabase> =>
  createDatabase(TEMPLATE_DATABASE, options);

/** A database in which nothing is. */
export const createEmptyDatabase = (options: DatabaseOptions = {}): Promise<TestDatabase> =>
  createDatabase('template0', options);

async function createDatabase(template: string, options: DatabaseOptions): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await admin(server, `create database ${name} template ${template}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const sql = connectDatabase(url.href, { connections: 8, ...options });
  return {
    url: url.href,
    sql,
    async drop() {
      await sql.end({ timeout: 1 });
      await admin(server, `drop database if exists ${name} with (force)`);
    },
  };
}

async function admin(server: string, statement: string): Promise<void> {
  const sql = connectDatabase(server, { connections: 1 });
  try {
    // Cloning needs the template to be free of connections; two files may start at once.
    for (let attempt = 0; ; attempt += 1) {
      try {
        await sql.unsafe(statement);
        return;
      } catch (error) {
        if ((error as { code?: string }).code !== '55006' || attempt === 50) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  } finally {
    await sql.end();
  }
}
