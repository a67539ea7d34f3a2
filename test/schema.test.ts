import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../src/platform/project-root.ts';
import { createEmptyDatabase, createTestDatabase } from './support/database.ts';
import { describeSchema } from './support/describe-schema.ts';

const path = join(projectRoot(), 'docs/schema.sql');

test('docs/schema.sql equals what the migrations make of an empty database (UPDATE_SCHEMA=1 rewrites it)', async () => {
  const database = await createTestDatabase();
  try {
    const described = await describeSchema(database.sql);
    if (process.env.UPDATE_SCHEMA) writeFileSync(path, described);
    expect(described).toContain('\ncreate table fees (\n');
    expect(readFileSync(path, 'utf8')).toBe(described);
  } finally {
    await database.drop();
  }
});

test('an added column, constraint, comment, index or trigger each change the description of the schema', async () => {
  const database = await createEmptyDatabase();
  try {
    const { sql } = database;
    await sql.unsafe(`create table notes (id uuid primary key);
      create function keep() returns trigger language plpgsql as $$ begin return new; end $$`);
    const seen = new Set([await describeSchema(sql)]);
    for (const change of [
      `alter table notes add column body text not null default 'none'`,
      'alter table notes add constraint notes_body_short check (length(body) < 100)',
      `comment on table notes is 'What somebody''s hand wrote.'`,
      `comment on column notes.body is 'Plain text.'`,
      'create index notes_by_body on notes (body) where length(body) > 3',
      'create trigger notes_keep before insert on notes for each row execute function keep()',
    ]) {
      await sql.unsafe(change);
      seen.add(await describeSchema(sql));
    }
    expect(seen.size).toBe(7);
    expect([...seen].at(-1)).toContain(`comment on table notes is 'What somebody''s hand wrote.';`);
  } finally {
    await database.drop();
  }
});
