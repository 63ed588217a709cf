-- Asks Sluice about each request. A denied request is answered here; an allowed one continues with its fields.
local URL = "http://127.0.0.1:9089/check/api"
local TIMEOUT_MS = 1000

-- These belong to the connection of the client, or to its body, which Sluice does not need.
local LEFT_OUT = {
  ["connection"] = true, ["content-length"] = true, ["expect"] = true, ["host"] = true, ["keep-alive"] = true,
  ["te"] = true, ["trailer"] = true, ["transfer-encoding"] = true, ["upgrade"] = true,
}

local function asked(txn)
  local fields = {}
  for name, values in pairs(txn.http:req_get_headers()) do
    if not LEFT_OUT[name] then
      fields[name] = {}
      for _, value in pairs(values) do table.insert(fields[name], value) end
    end
  end
  fields["x-forwarded-for"] = { txn.sf:src() }
  fields["x-forwarded-host"] = { txn.sf:req_fhdr("host") }
  fields["x-forwarded-method"] = { txn.sf:method() }
  fields["x-forwarded-uri"] = { txn.sf:pathq() }
  return fields
end

core.register_action("sluice", { "http-req" }, function(txn)
  local answer = core.httpclient():get({ url = URL, headers = asked(txn), timeout = TIMEOUT_MS })
  local fields = answer.headers or {}
  local function field(name) return fields[name] and fields[name][0] end
  if answer.status == 200 then
    if field("ratelimit") then txn:set_var("txn.ratelimit", field("ratelimit")) end
    if field("ratelimit-policy") then txn:set_var("txn.ratelimit_policy", field("ratelimit-policy")) end
    return
  end
  -- An answer of Sluice that denies has problem details. Anything else is no answer.
  if field("content-type") ~= "application/problem+json" or answer.status >= 500 and answer.status ~= 503 then
    txn:set_var("txn.sluice_failed", true)
    return
  end
  local reply = txn:reply({ status = answer.status, reason = answer.reason })
  for name, values in pairs(fields) do
    if not LEFT_OUT[name] then
      for _, value in pairs(values) do reply:add_header(name, value) end
    end
  end
  reply:set_body(txn.sf:method() == "HEAD" and "" or answer.body)
  txn:done(reply)
end)
