-- SPDX-License-Identifier: BSD-3-Clause
-- Wireshark dissector for NetFC, version 1, on UDP port 20038 or what the preferences say.
--
--   tshark -X lua_script:packaging/wireshark/netfc.lua -r capture.pcap -V
--
-- docs/protocol.md describes the protocol, docs/clients.md the fields and how to install this.
-- Works with the Lua of every Wireshark: no bit operations, no integer division.

local netfc = Proto("netfc", "NetFC floating-point arithmetic")

local UDP_PORT = 20038
local MAGIC = 0x4e46
local VERSION = 1
local FMA = 8
local QUERY = 16
local FUNCTION = 64
local TO_FORMAT = 96 -- and the format's number
local TO_SATURATING = 100 -- and the number of a format of 8 bits
local TO_FIXED = 112 -- and how many bits stand behind the point
local FROM_FIXED = 128
local NAME = 192
local FP32 = 5 -- the format whose slots have 32 bits
local HEADER_BYTES = 12
local START_BYTES = 6 -- up to the status: what a switch must have to answer
local COUNTER_BYTES = 12 -- of a query, behind z

local OPS = {
    [1] = "add", [2] = "sub", [3] = "mul", [4] = "div", [5] = "min", [6] = "max", [7] = "compare",
    [FMA] = "fma", [QUERY] = "query", [NAME] = "name",
}
local CURVES = {
    "abs", "neg", "floor", "ceil", "trunc", "round", "sqrt", "rsqrt", "reciprocal", "exp", "exp2",
    "ln", "log2", "sin", "cos", "tanh", "sigmoid", "erf", "gelu", "silu",
}
for place, name in ipairs(CURVES) do
    OPS[FUNCTION + place - 1] = name
end
for point = 0, 15 do
    local name = point == 0 and "int16" or "q" .. point
    OPS[TO_FIXED + point] = "to_" .. name
    OPS[FROM_FIXED + point] = "from_" .. name
end
for own = NAME + 1, 255 do
    OPS[own] = "own_" .. own
end
local SYMBOLS = {[1] = "+", [2] = "-", [3] = "x", [4] = "/"}
local CODES = {
    [0] = "ok", [1] = "version", [2] = "op", [3] = "format", [4] = "length", [5] = "query",
    [6] = "lanes",
}
local MEANINGS = {
    [0] = "computed",
    [1] = "the version is not 1",
    [2] = "no such operation",
    [3] = "no such format, or its table set is not loaded",
    [4] = "no lanes, or the datagram is too short for them",
    [5] = "queries are off",
    [6] = "more lanes than this switch computes",
}
local FLAGS = { -- from bit 0 on: filter name, words
    {"invalid", "invalid"},
    {"divbyzero", "division by zero"},
    {"overflow", "overflow"},
    {"underflow", "underflow"},
}

-- Number formats ------------------------------------------------------------------------------

local NAN = -(0 / 0) -- without a sign on most machines

-- The value of an IEEE 754 encoding with that many exponent bits, of 16 bits or as many as width says.
local function ieee(exponent_bits, width)
    local sign_bit = 2 ^ ((width or 16) - 1)
    local fraction_bits = (width or 16) - 1 - exponent_bits
    local bias, last = 2 ^ (exponent_bits - 1) - 1, 2 ^ exponent_bits - 1
    local scale, hidden = 2 ^ (1 - bias - fraction_bits), 2 ^ fraction_bits

    return function(bits)
        local sign = bits < sign_bit and 1 or -1
        local fraction = bits % hidden
        local exponent = math.floor(bits % sign_bit / hidden)

        if exponent == last then
            return fraction == 0 and sign * math.huge or NAN
        elseif exponent == 0 then
            return sign * fraction * scale
        end
        return sign * (hidden + fraction) * scale * 2 ^ (exponent - 1)
    end
end

-- The value of an encoding of 8 bits, 4 of them the exponent, of which the greatest magnitude alone is
-- no number.
local function e4m3(bits)
    local fraction, exponent = bits % 8, math.floor(bits % 0x80 / 8)
    local value = exponent == 0 and fraction * 2 ^ -9 or (8 + fraction) * 2 ^ (exponent - 10)

    return bits % 0x80 == 0x7f and NAN or (bits < 0x80 and value or -value)
end

-- The value of a posit with that many exponent bits.
local function posit(exponent_bits)
    local function positive(bits)
        local rest = bits / 0x8000 -- its binary digits behind the point are those of the posit
        local first, run = rest >= 0.5, 0

        while run < 15 and (rest >= 0.5) == first do
            rest, run = rest * 2 % 1, run + 1
        end
        rest = rest * 2 % 1 * 2 ^ exponent_bits -- without the bit that ends the regime
        local regime = first and run - 1 or -run
        return (1 + rest % 1) * 2 ^ (regime * 2 ^ exponent_bits + math.floor(rest))
    end

    return function(bits)
        if bits == 0 then
            return 0
        elseif bits == 0x8000 then
            return NAN
        end
        return bits < 0x8000 and positive(bits) or -positive(0x10000 - bits)
    end
end

local FORMATS = {
    [1] = {name = "fp16", nan = "NaN", decode = ieee(5)},
    [2] = {name = "posit16", nan = "NaR", decode = posit(1)},
    [3] = {name = "bf16", nan = "NaN", decode = ieee(8)},
    [4] = {name = "posit16_es2", nan = "NaR", decode = posit(2)},
    [FP32] = {name = "fp32", nan = "NaN", decode = ieee(8, 32), bytes = 4, digits = 9},
    [8] = {name = "fp8_e4m3", nan = "NaN", decode = e4m3, bytes = 1},
    [9] = {name = "fp8_e5m2", nan = "NaN", decode = ieee(5, 8), bytes = 1},
}
local FORMAT_NAMES = {}
for id, format in pairs(FORMATS) do
    FORMAT_NAMES[id] = format.name
    format.bytes = format.bytes or 2 -- of a slot
    format.digits = format.digits or 8 -- that tell values apart
    OPS[TO_FORMAT + id] = "to_" .. format.name
    if format.bytes == 1 then
        OPS[TO_SATURATING + id] = "to_" .. format.name .. "_sat"
    end
end

-- An int16 as a multiple of 2^-point.
local function fixed(point)
    return {decode = function(bits)
        return (bits < 0x8000 and bits or bits - 0x10000) / 2 ^ point
    end}
end

-- What the slot of that name holds, or nil: no number.
local function slot_format(message, name)
    local op = message.op

    if op == NAME or op == QUERY and name ~= "z" then
        return nil
    elseif message.format and name == "z" and op > TO_FORMAT and op < TO_FIXED then
        return FORMATS[op - TO_FORMAT] or FORMATS[op - TO_SATURATING]
    elseif message.format and name == "z" and op >= TO_FIXED and op < FROM_FIXED then
        return fixed(op - TO_FIXED)
    elseif message.format and name == "x" and op >= FROM_FIXED and op < FROM_FIXED + 16 then
        return fixed(op - FROM_FIXED)
    end
    return message.format
end

-- Fields --------------------------------------------------------------------------------------

local fields = {
    magic = ProtoField.uint16("netfc.magic", "Magic", base.HEX),
    version = ProtoField.uint8("netfc.version", "Version"),
    op = ProtoField.uint8("netfc.op", "Operation", base.DEC, OPS),
    format = ProtoField.uint8("netfc.format", "Format", base.DEC, FORMAT_NAMES),
    status = ProtoField.uint8("netfc.status", "Status", base.HEX),
    reply = ProtoField.bool("netfc.status.reply", "Reply", 8, nil, 0x80),
    code = ProtoField.uint8("netfc.status.code", "Code", base.DEC, CODES, 0x70),
    count = ProtoField.uint16("netfc.count", "Lanes"),
    id = ProtoField.uint32("netfc.id", "Id", base.HEX),
    lane = ProtoField.string("netfc.lane", "Lane"),
    x = ProtoField.uint16("netfc.x", "x", base.HEX),
    y = ProtoField.uint16("netfc.y", "y", base.HEX),
    z = ProtoField.uint16("netfc.z", "z", base.HEX),
    x_value = ProtoField.double("netfc.x.value", "Value of x"),
    y_value = ProtoField.double("netfc.y.value", "Value of y"),
    z_value = ProtoField.double("netfc.z.value", "Value of z"),
    x32 = ProtoField.uint32("netfc.x32", "x", base.HEX),
    y32 = ProtoField.uint32("netfc.y32", "y", base.HEX),
    z32 = ProtoField.uint32("netfc.z32", "z", base.HEX),
    destination = ProtoField.ipv4("netfc.query.destination", "Destination asked for"),
    connections = ProtoField.uint32("netfc.query.connections", "Connections"),
    bytes = ProtoField.uint64("netfc.query.bytes", "Bytes"),
    trailer = ProtoField.bytes("netfc.trailer", "Bytes behind z"),
    response_in = ProtoField.framenum(
        "netfc.response_in", "Reply in", base.NONE, frametype.RESPONSE),
    response_to = ProtoField.framenum(
        "netfc.response_to", "Request in", base.NONE, frametype.REQUEST),
    time = ProtoField.relative_time("netfc.time", "Time since the request"),
}
for bit, flag in ipairs(FLAGS) do
    fields[flag[1]] = ProtoField.bool("netfc.flags." .. flag[1], "Exception: " .. flag[2], 8, nil,
        2 ^ (bit - 1))
end
netfc.fields = fields

local experts = {
    error = ProtoExpert.new("netfc.expert.error", "Not computed",
        expert.group.RESPONSE_CODE, expert.severity.WARN),
    exception = ProtoExpert.new("netfc.expert.exception", "Arithmetic exception",
        expert.group.RESPONSE_CODE, expert.severity.NOTE),
    request = ProtoExpert.new("netfc.expert.request", "Request that will not be computed",
        expert.group.PROTOCOL, expert.severity.WARN),
    limited = ProtoExpert.new("netfc.expert.limited", "Packet size limited during capture",
        expert.group.UNDECODED, expert.severity.NOTE),
    truncated = ProtoExpert.new("netfc.expert.truncated", "Datagram too short",
        expert.group.MALFORMED, expert.severity.ERROR),
}
netfc.experts = experts

-- Requests and replies that belong together ---------------------------------------------------

local asked, pairs_found -- requests by key; what dissect_pair() shows, by frame number

function netfc.init()
    asked, pairs_found = {}, {}
end

-- The same for a request and its reply, whether or not the switch sends it back.
local function pair_key(id, pinfo)
    local ends = {
        tostring(pinfo.src) .. " " .. pinfo.src_port, tostring(pinfo.dst) .. " " .. pinfo.dst_port,
    }
    table.sort(ends)
    return table.concat({id, ends[1], ends[2]}, " ")
end

local function note_pair(message, pinfo)
    local key, number = pair_key(message.id, pinfo), pinfo.number

    if not message.reply then
        asked[key] = {number = number, time = pinfo.rel_ts}
    elseif asked[key] then
        local request = asked[key]
        pairs_found[number] = {request = request.number, time = pinfo.rel_ts - request.time}
        pairs_found[request.number] = pairs_found[request.number] or {reply = number}
    end
end

local function nstime(seconds)
    local whole = math.floor(seconds)
    return NSTime.new(whole, math.floor((seconds - whole) * 1e9 + 0.5))
end

local function dissect_pair(message, pinfo, tree)
    if not pinfo.visited then
        note_pair(message, pinfo)
    end
    local found = pairs_found[pinfo.number]
    if found and found.reply then
        tree:add(fields.response_in, found.reply):set_generated()
    elseif found then
        tree:add(fields.response_to, found.request):set_generated()
        tree:add(fields.time, nstime(found.time)):set_generated()
    end
end

-- The parts of a datagram ---------------------------------------------------------------------

-- What the header says; count and id are nil where it is cut.
local function read_header(tvb)
    local status = tvb(5, 1):uint()
    local message = {
        version = tvb(2, 1):uint(),
        op = tvb(3, 1):uint(),
        format = FORMATS[tvb(4, 1):uint()],
        reply = status >= 0x80,
        code = math.floor(status / 16) % 8,
        flags = {},
    }
    for bit, flag in ipairs(FLAGS) do
        if math.floor(status / 2 ^ (bit - 1)) % 2 == 1 then
            table.insert(message.flags, flag[2])
        end
    end
    if tvb:len() >= HEADER_BYTES then
        message.count, message.id = tvb(6, 2):uint(), tvb(8, 4):uint()
    end
    return message
end

local function dissect_status(message, tvb, tree)
    local text = "request"

    if message.reply then
        local name = CODES[message.code] or "unknown"
        text = "reply, " .. (message.code == 0 and "computed" or "error " .. name)
    end
    for _, words in ipairs(message.flags) do
        text = text .. ", " .. words
    end
    local item = tree:add(fields.status, tvb(5, 1)):append_text(" (" .. text .. ")")
    item:add(fields.reply, tvb(5, 1))
    item:add(fields.code, tvb(5, 1))
    for _, flag in ipairs(FLAGS) do
        item:add(fields[flag[1]], tvb(5, 1))
    end
    if message.reply and message.code ~= 0 then
        local meaning = MEANINGS[message.code] or ("code " .. message.code)
        item:add_proto_expert_info(experts.error, "Not computed: " .. meaning)
    elseif message.reply and #message.flags > 0 then
        item:add_proto_expert_info(experts.exception,
            "Arithmetic exception: " .. table.concat(message.flags, ", "))
    end
end

-- A request that every switch refuses.
local function check_request(item, good, problem, message)
    if not good and not message.reply then
        item:add_proto_expert_info(experts.request, problem)
    end
end

local function dissect_header(message, tvb, tree)
    tree:add(fields.magic, tvb(0, 2))
    local item = tree:add(fields.version, tvb(2, 1))
    check_request(item, message.version == VERSION, "The version is not 1", message)
    item = tree:add(fields.op, tvb(3, 1))
    check_request(item, OPS[message.op], "No such operation", message)
    item = tree:add(fields.format, tvb(4, 1))
    check_request(item, message.format, "No such format", message)
    dissect_status(message, tvb, tree)
    if message.count then
        item = tree:add(fields.count, tvb(6, 2))
        check_request(item, message.count > 0, "No lanes", message)
        tree:add(fields.id, tvb(8, 4))
    end
end

-- The bytes of a slot; those of an unknown format have 2. Conversions between formats have the wider
-- one's.
local function slot_bytes(message)
    local size, op = message.format and message.format.bytes or 2, message.op
    local other = FORMATS[op - TO_FORMAT] or FORMATS[op - TO_SATURATING]

    if op == NAME or op > TO_FORMAT and op < FROM_FIXED + 16 and not (other and other.bytes == 1) then
        return math.max(size, other and other.bytes or 2)
    end
    return size
end

-- The bytes of x, and so of y and of z: an even number.
local function operand_bytes(message)
    local size = slot_bytes(message) * (message.count or 0)

    return size + size % 2
end

-- A slot with its bits, value and text; without a format it is nothing but bits.
local function read_slot(range, format)
    local slot = {range = range, bits = range:uint()}

    slot.hex = string.format("0x%0" .. 2 * range:len() .. "x", slot.bits)
    if not format then
        slot.text = slot.hex
        return slot
    end
    -- Above an encoding that is narrower than its slot there may be anything.
    slot.value = format.decode(slot.bits % 2 ^ (8 * (format.bytes or 2)))
    slot.text = slot.value ~= slot.value and format.nan or
        string.format("%." .. (format.digits or 8) .. "g", slot.value)
    return slot
end

-- The x, y and z of a lane, as many as are there.
local function read_lane(message, tvb, lane)
    local size = slot_bytes(message)
    local slots = {}

    for part, name in ipairs({"x", "y", "z"}) do
        local at = HEADER_BYTES + (part - 1) * operand_bytes(message) + size * lane
        if at + size <= tvb:len() then
            slots[name] = read_slot(tvb(at, size), slot_format(message, name))
        end
    end
    return slots
end

-- A lane as a formula, as far as it is there; z only where the switch has written it.
local function lane_text(message, slots)
    local z = message.reply and message.code == 0 and slots.z

    if message.op == QUERY then
        return "query" .. (z and (", " .. z.text .. " connections per byte") or "")
    end
    local text = slots.x.text
    if message.op >= FUNCTION and message.op ~= NAME and OPS[message.op] then
        text = OPS[message.op] .. "(" .. text .. ")"
    elseif OPS[message.op] and not SYMBOLS[message.op] then
        -- What fma has added is overwritten by the result.
        local third = message.op == FMA and not z and slots.z
        text = OPS[message.op] .. "(" .. text .. (slots.y and ", " .. slots.y.text or "") ..
            (third and ", " .. third.text or "") .. ")"
    elseif slots.y then
        text = text .. " " .. (SYMBOLS[message.op] or "?") .. " " .. slots.y.text
    end
    return text .. (z and (" = " .. z.text) or "")
end

local function dissect_slot(slot, tree, name)
    local item = tree:add(fields[slot.range:len() == 4 and name .. "32" or name], slot.range)

    if slot.value then
        item:set_text(string.format("%s: %s (%s)", name, slot.text, slot.hex))
        item:add(fields[name .. "_value"], slot.range, slot.value):set_generated()
    end
end

local WANTED = {
    "lane", "x", "y", "z", "x32", "y32", "z32", "x_value", "y_value", "z_value",
}

-- Lanes take most of the time: they are left out where nobody looks at them.
local function are_lanes_wanted(tree)
    for _, name in ipairs(WANTED) do
        if tree:referenced(fields[name]) then
            return true
        end
    end
    return false
end

local function dissect_lanes(message, tvb, tree)
    if not are_lanes_wanted(tree) then
        return
    end
    for lane = 0, message.count - 1 do
        local slots = read_lane(message, tvb, lane)
        if not slots.x then
            break
        end
        local text = lane_text(message, slots)
        local item = tree:add(fields.lane, slots.x.range, text)
        item:set_text("Lane " .. lane .. ": " .. text)
        for _, name in ipairs({"x", "y", "z"}) do
            if slots[name] then
                dissect_slot(slots[name], item, name)
            end
        end
    end
end

-- What a query asks for, and the counters behind its lane.
local function dissect_query(message, tvb, tree)
    if message.op ~= QUERY or message.count ~= 1 or tvb:len() < HEADER_BYTES + 4 then
        return
    end
    message.destination = tostring(tvb(HEADER_BYTES, 4):ipv4())
    tree:add(fields.destination, tvb(HEADER_BYTES, 4))
    local at = HEADER_BYTES + 6
    if tvb:len() >= at + COUNTER_BYTES then
        tree:add(fields.connections, tvb(at, 4))
        tree:add(fields.bytes, tvb(at + 4, 8))
        message.counter_bytes = COUNTER_BYTES
    end
end

-- What stands behind z, or what is missing of it.
local function dissect_end(message, tvb, tree)
    local needed = HEADER_BYTES + 3 * operand_bytes(message)
    local rest = tvb:len() - needed - (message.counter_bytes or 0)

    if tvb:reported_len() < needed then
        tree:add_proto_expert_info(experts.truncated, string.format(
            "%d bytes, but header and lanes need %d", tvb:reported_len(), needed))
    end
    -- Not a fault of the datagram's.
    if tvb:len() < tvb:reported_len() then
        tree:add_proto_expert_info(experts.limited)
    elseif rest > 0 then
        tree:add(fields.trailer, tvb(tvb:len() - rest))
    end
end

-- One line: "NetFC fp16 add, 3 lanes, reply: overflow".
local function info(message, tvb)
    local format = message.format and message.format.name or ("format " .. tvb(4, 1):uint())
    local op = OPS[message.op] or ("op " .. message.op)
    local parts = {message.op == QUERY and "NetFC query" or ("NetFC " .. format .. " " .. op)}

    if message.destination then
        parts[1] = parts[1] .. " for " .. message.destination
    elseif message.count then
        table.insert(parts, message.count .. (message.count == 1 and " lane" or " lanes"))
    elseif tvb:reported_len() < HEADER_BYTES then
        table.insert(parts, "header cut")
    end
    if not message.reply then
        table.insert(parts, "request")
    elseif message.code ~= 0 then
        table.insert(parts, "reply: error " .. (CODES[message.code] or message.code))
    elseif #message.flags > 0 then
        table.insert(parts, "reply: " .. table.concat(message.flags, ", "))
    else
        table.insert(parts, "reply")
    end
    if tvb:len() < tvb:reported_len() then
        table.insert(parts, "packet size limited during capture")
    end
    return table.concat(parts, ", ")
end

function netfc.dissector(tvb, pinfo, root)
    if tvb:len() < START_BYTES or tvb(0, 2):uint() ~= MAGIC then
        return 0
    end
    local message = read_header(tvb)
    local tree = root:add(netfc, tvb())

    dissect_header(message, tvb, tree)
    if message.count then
        dissect_pair(message, pinfo, tree)
        dissect_query(message, tvb, tree)
        dissect_lanes(message, tvb, tree)
    end
    dissect_end(message, tvb, tree)
    local text = info(message, tvb)
    pinfo.cols.protocol, pinfo.cols.info = "NetFC", text
    tree:set_text(text)
    return tvb:len()
end

-- Where NetFC is found ------------------------------------------------------------------------

local udp_ports = DissectorTable.get("udp.port")
local port = UDP_PORT

netfc.prefs.port = Pref.uint("UDP port", UDP_PORT, "What the switch's --port says")

function netfc.prefs_changed()
    udp_ports:remove(port, netfc)
    port = netfc.prefs.port
    udp_ports:add(port, netfc)
end

udp_ports:add(port, netfc)
