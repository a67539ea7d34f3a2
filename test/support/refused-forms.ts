import { HOLE } from './template-texts.ts';

/** Functions whose answer is not the same for ever, of Postgres and of the migrations. */
const CHANGEABLE =
  /\b(?:now|(?:clock|statement|transaction)_timestamp|timeofday|random|gen_random_uuid|nextval|currval|setval|set_config|current_setting|txid_current|pg_\w+|hold_\w+|lock_\w+|decide_\w+|tell_\w+)\(|\b(?:current_(?:timestamp|date|time)|localtime(?:stamp)?)\b/;

/** Days and months of an interval depend on the zone of the session. */
const ZONED_SUM = /::timestamptz\s*[+-]\s*(?:\S+\s*\*\s*)?interval\b/;

/** Forms of a statement that Citus refuses in a schema that it has distributed, each with what finds it. */
export const REFUSED_FORMS: Record<string, (statement: string) => boolean> = {
  'a row lock within a common table expression': (statement) =>
    blocksAfter(statement, /\bas\s+(?:(?:not\s+)?materialized\s*)?\(/g).some(
      (block) =>
        /^\s*(?:with|select)\b/.test(block) && /\bfor\s+(?:no\s+key\s+update|update|key\s+share|share)\b/.test(block),
    ),
  'what may change within case or coalesce of a command': (statement) =>
    !isRead(statement) &&
    [...casesOf(statement), ...blocksAfter(statement, /\bcoalesce\s*\(/g)].some(
      (block) => CHANGEABLE.test(block) || ZONED_SUM.test(block),
    ),
  'tablesample with a parameter': (statement) =>
    blocksAfter(statement, /\btablesample\s+\w+\s*\(/g).some((block) => block.includes(HOLE)),
  'insert … select behind a common table expression': (statement) =>
    /^\s*with\b/.test(outer(statement)) && /\binsert into\b[\s\S]*\bselect\b/.test(outer(statement)),
  'several commands in one statement': (statement) => /;\s*(?:select|insert|update|delete|set|with)\b/.test(statement),
};

/** Whether it is a whole statement that changes nothing; a part of a statement may become part of one that does. */
const isRead = (statement: string): boolean =>
  /^\s*(?:with|select)\b/.test(statement) &&
  !/\b(?:insert into|delete from|update\s+\w+\s+(?:(?:as\s+)?\w+\s+)?set)\b/.test(statement);

/** A statement without its comments, and with empty texts. */
export const bare = (statement: string): string =>
  statement.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g, (part) => (part.startsWith("'") ? "''" : ' '));

/** A statement without what stands in its parentheses. */
function outer(statement: string): string {
  let depth = 0;
  return [...statement]
    .filter((sign) => {
      if (sign === '(') depth += 1;
      else if (sign === ')') depth -= 1;
      else return depth === 0;
      return false;
    })
    .join('');
}

/** What stands between each parenthesis that `opening` ends with and its partner; to the end where there is none. */
function blocksAfter(statement: string, opening: RegExp): string[] {
  return [...statement.matchAll(opening)].map((match) => {
    const start = match.index + match[0].length;
    let depth = 1;
    for (let at = start; at < statement.length; at += 1) {
      if (statement[at] === '(') depth += 1;
      else if (statement[at] === ')') depth -= 1;
      if (depth === 0) return statement.slice(start, at);
    }
    return statement.slice(start);
  });
}

/** Each `case` with all that stands in it, up to its own `end`; to the end where there is none. */
function casesOf(statement: string): string[] {
  return [...statement.matchAll(/\bcase\b/g)].map(({ index }) => {
    let depth = 0;
    for (const word of statement.slice(index).matchAll(/\b(?:case|end)\b/g)) {
      depth += word[0] === 'case' ? 1 : -1;
      if (depth === 0) return statement.slice(index, index + word.index);
    }
    return statement.slice(index);
  });
}
