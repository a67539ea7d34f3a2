/*
 * Scripts of the counters. A hash holds the facts for one subscription's checks:
 *   doc        JSON of the facts but for what was used
 *   windows    JSON of the windows that limits count: {n, code, metric, adds, from, to, heir}, times in microseconds
 *   u<n>       what was used in window n, in millionths of a unit, where events are added
 *   snapshot   xmin:xmax:xip,… of the transactions that the facts contain
 *   epoch      number of the organization's newest change when they were read
 *   customer, built_at (milliseconds of Redis' clock), stale (set: read again before answering)
 */

/** Adds a group of stored events to a hash that does not contain their transaction yet. */
const APPLY = `
local function contains(snapshot, x)
  local xmin, xmax, xip = string.match(snapshot, '^(%d+):(%d+):(.*)$')
  if x < tonumber(xmin) then return true end
  if x >= tonumber(xmax) then return false end
  for open in string.gmatch(xip, '%d+') do if tonumber(open) == x then return false end end
  return true
end
local function apply(key, x, code, metric, amount, first, last)
  local kept = redis.call('HMGET', key, 'snapshot', 'windows')
  if not kept[1] or contains(kept[1], x) then return end
  for _, window in ipairs(cjson.decode(kept[2])) do
    if window.code == code and first < window.to then
      local adds = window.adds and window.metric == metric and amount ~= ''
      local inside = first >= window.from and last < window.to and not (window.heir and first <= window.from + 999)
      if adds and inside then
        local used = redis.call('HINCRBY', key, 'u' .. window.n, amount)
        if math.abs(used) > 9e15 then redis.call('HSET', key, 'stale', 1) end
      elseif not adds or last >= window.from then
        redis.call('HSET', key, 'stale', 1)
      end
    end
  end
end
`;

/*
 * KEYS hash, changes of the organization
 * ARGV external id of the subscription
 * → all fields with the age in milliseconds behind them, or nothing
 */
export const READ = `
local kept = redis.call('HMGET', KEYS[1], 'customer', 'epoch', 'stale', 'built_at')
if not kept[1] or kept[3] then return nil end
local changes = redis.call('HMGET', KEYS[2], 'n', 'o', 'c:' .. kept[1], 's:' .. ARGV[1])
if not changes[1] then return nil end
for i = 2, 4 do
  if changes[i] and tonumber(changes[i]) > tonumber(kept[2]) then return nil end
end
local fields = redis.call('HGETALL', KEYS[1])
local time = redis.call('TIME')
fields[#fields + 1] = 'age'
fields[#fields + 1] = tostring(time[1] * 1000 + math.floor(time[2] / 1000) - kept[4])
return fields
`;

/*
 * Opens a rebuild, one at a time. Later additions are also logged beside the hash.
 *
 * KEYS builder, log, changes of the organization ARGV token, milliseconds, seconds that changes are kept → number of
 * the newest change, or nothing while another one is under way
 */
export const OPEN = `
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return nil end
redis.call('DEL', KEYS[2])
redis.call('HSETNX', KEYS[3], 'n', 0)
redis.call('EXPIRE', KEYS[3], ARGV[3])
return tonumber(redis.call('HGET', KEYS[3], 'n'))
`;

/*
 * Ends a rebuild: stores the hash with the additions made meanwhile, unless something else changed since or Redis lost
 * the log.
 *
 * KEYS hash, builder, log, changes of the organization ARGV token, external id, customer's id, milliseconds that the
 * hash is kept, field, value, … → 1 when it is in place
 */
export const STORE = `${APPLY}
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
local added = redis.call('LRANGE', KEYS[3], 0, -1)
redis.call('DEL', KEYS[2], KEYS[3])
if #ARGV == 1 then return 0 end
local fields, epoch = {}, nil
for i = 5, #ARGV, 2 do
  fields[#fields + 1] = ARGV[i]
  fields[#fields + 1] = ARGV[i + 1]
  if ARGV[i] == 'epoch' then epoch = tonumber(ARGV[i + 1]) end
end
local changes = redis.call('HMGET', KEYS[4], 'n', 'o', 'c:' .. ARGV[3], 's:' .. ARGV[2])
if not changes[1] then return 0 end
for i = 2, 4 do if changes[i] and tonumber(changes[i]) > epoch then return 0 end end
local time = redis.call('TIME')
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'customer', ARGV[3], 'built_at', time[1] * 1000 + math.floor(time[2] / 1000), unpack(fields))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
for _, entry in ipairs(added) do
  local group = cjson.decode(entry)
  apply(KEYS[1], tonumber(group[1]), group[2], group[3], group[4], tonumber(group[5]), tonumber(group[6]))
end
return 1
`;

/*
 * Adds the groups of one transaction and organization to existing hashes, and logs them for rebuilds in progress.
 *
 * KEYS of each group: hash, builder, log
 * ARGV milliseconds of a rebuild, number of the transaction, then of each group: code, metric, amount in millionths or
 *      nothing, microseconds of the first and the last event
 */
export const ADD = `${APPLY}
local x = tonumber(ARGV[2])
for group = 0, #KEYS / 3 - 1 do
  local hash, builder, log = KEYS[3 * group + 1], KEYS[3 * group + 2], KEYS[3 * group + 3]
  local code, metric, amount, first, last = unpack(ARGV, 5 * group + 3, 5 * group + 7)
  apply(hash, x, code, metric, amount, tonumber(first), tonumber(last))
  if redis.call('EXISTS', builder) == 1 then
    redis.call('RPUSH', log, cjson.encode({ARGV[2], code, metric, amount, first, last}))
    redis.call('PEXPIRE', log, ARGV[1])
  end
end
return 1
`;
