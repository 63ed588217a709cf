-- Asks Sluice about each request. A denied request is answered here; an allowed one continues with its fields.
local URL = "http://127.0.0.1:9089/check/api"
local TIMEOUT_MS = 1000
-- The fields of your tables beside X-Forwarded-*, in lower case, which your authentication has set: see
-- sluice serve --print-fields. For example { "x-account-id" }. All other fields stay here: they could be too many, too
-- large or malformed, and make the question fail.
local FIELDS = {}
-- What is larger does not fit into a question. A buffer has 20,480 bytes, of which 4,096 stay free: see haproxy.cfg.
local MAX_BYTES = 15000

-- These belong to one connection, or to the body of an answer, which is sent anew.
local LEFT_OUT = {
  ["connection"] = true, ["content-length"] = true, ["keep-alive"] = true, ["transfer-encoding"] = true,
}

local function asked(txn)
  local path = txn.sf:pathq()
  local values = {
    ["x-forwarded-for"] = txn.sf:src(),
    ["x-forwarded-host"] = txn.sf:req_fhdr("host"),
    ["x-forwarded-method"] = txn.sf:method(),
    -- A target such as * has no path.
    ["x-forwarded-uri"] = path ~= "" and path or txn.sf:url(),
  }
  local sent = txn.http:req_get_headers()
  for _, name in ipairs(FIELDS) do
    if sent[name] then values[name] = table.concat(sent[name], ", ", 0) end
  end
  return values
end

-- Whether the values of a request can be sent. If they can't, it is the client's doing.
local function is_askable(values)
  local bytes = 0
  for name, value in pairs(values) do
    bytes = bytes + #name + #value
    if value:find("%c") then return false end
  end
  return bytes <= MAX_BYTES
end

local function refuse(txn)
  local reply = txn:reply({ status = 400 })
  reply:add_header("content-type", "application/problem+json")
  reply:add_header("cache-control", "no-store")
  reply:set_body('{"type":"about:blank","title":"Bad request","status":400,'
    .. '"detail":"A field that is needed for its rate limit is too large or has control characters."}')
  txn:done(reply)
end

core.register_action("sluice", { "http-req" }, function(txn)
  local values = asked(txn)
  if not is_askable(values) then return refuse(txn) end
  local headers = {}
  for name, value in pairs(values) do headers[name] = { value } end
  local answer = core.httpclient():get({ url = URL, headers = headers, timeout = TIMEOUT_MS })
  local fields = answer.headers or {}
  local function field(name) return fields[name] and fields[name][0] end
  if answer.status == 200 then
    if field("ratelimit") then txn:set_var("txn.ratelimit", field("ratelimit")) end
    if field("ratelimit-policy") then txn:set_var("txn.ratelimit_policy", field("ratelimit-policy")) end
    txn:set_var("txn.sluice_asked", true)
    return
  end
  -- Sluice answers with problem details. An error without them is HAProxy's own: Sluice did not answer.
  local is_own = not answer.status or answer.status < 400 or answer.status >= 500
  if is_own and field("content-type") ~= "application/problem+json" then
    txn:set_var("txn.sluice_failed", true)
    txn:set_var("txn.sluice_asked", true)
    return
  end
  local reply = txn:reply({ status = answer.status, reason = answer.reason })
  for name, each in pairs(fields) do
    if not LEFT_OUT[name] then
      for _, value in pairs(each) do reply:add_header(name, value) end
    end
  end
  reply:set_body(txn.sf:method() == "HEAD" and "" or answer.body)
  txn:done(reply)
end)
