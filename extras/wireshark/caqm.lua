-- CAQM's tag (Confined Active Queue Management) for Wireshark and tshark.
--
-- Two bytes INFO and two bytes inner EtherType behind an EtherType that is not registered (0x8200 by default), inside all
-- VLAN tags. INFO, from its highest bit: type of congestion control (3), last hop, reserved, caqm_en, C, I, hint (8).
-- Install: README.md beside this file. Checked against tcplab frame by frame: crates/capture/tests/caqm_dissector.rs.

local caqm = Proto("caqm", "CAQM tag")

local p = caqm.prefs
p.ethertype = Pref.uint("EtherType", 0x8200, "EtherType of the tag, from 1536 (0x0600) on")
p.cc_type = Pref.uint("Type that counts", 0, "cc_type whose hints count (sysctl_caqm_cc_type)")
p.data_unit = Pref.uint("Unit in data", 8, "bytes of window of a unit of hint in data (sysctl_caqm_data_hint_unit)")
p.ack_unit = Pref.uint("Unit in ACKs", 64, "bytes of window of a unit of hint in feedback (sysctl_caqm_ack_hint_unit)")
p.beta = Pref.uint("Mark", 512, "bytes of window that a mark takes away (sysctl_caqm_beta)")

local speakers = { [0] = "feedback of a receiver", [1] = "request of a sender of data" }
local f = {
    info = ProtoField.uint16("caqm.info", "INFO", base.HEX),
    cc_type = ProtoField.uint16("caqm.cc_type", "Type of congestion control", base.DEC, { [0] = "CAQM" }, 0xe000),
    last_hop = ProtoField.bool("caqm.last_hop", "Last hop", 16, nil, 0x1000, "Congestion was met at the last switch"),
    reserved = ProtoField.bool("caqm.reserved", "Reserved", 16, nil, 0x0800),
    en = ProtoField.uint16("caqm.en", "CAQM enable", base.DEC, speakers, 0x0400),
    c = ProtoField.bool("caqm.c", "C: congestion", 16, nil, 0x0200),
    i = ProtoField.bool("caqm.i", "I: increase", 16, nil, 0x0100),
    hint = ProtoField.uint16("caqm.hint", "Hint", base.DEC, nil, 0x00ff),
    etype = ProtoField.uint16("caqm.etype", "Inner EtherType", base.HEX),
    value = ProtoField.int32("caqm.value", "Window (bytes)", base.DEC, nil, nil, "What it stands for at its receiver"),
    verdict = ProtoField.string("caqm.verdict", "Verdict"),
}
caqm.fields = f

local e = {
    both = ProtoExpert.new("caqm.both", "C and I are both set: a receiver reads no change", expert.group.PROTOCOL, expert.severity.WARN),
    foreign = ProtoExpert.new("caqm.foreign", "Another type of congestion control: a receiver reads nothing", expert.group.PROTOCOL, expert.severity.NOTE),
    reserved = ProtoExpert.new("caqm.reserved_set", "The reserved bit is set", expert.group.PROTOCOL, expert.severity.NOTE),
    marked = ProtoExpert.new("caqm.marked", "A switch marked the packet: congestion", expert.group.SEQUENCE, expert.severity.NOTE),
    short = ProtoExpert.new("caqm.short", "The frame ends in the tag", expert.group.MALFORMED, expert.severity.ERROR),
    snapped = ProtoExpert.new("caqm.snapped", "The capture cut the frame: what it did not keep is shown as zeros", expert.group.COMMENTS_GROUP, expert.severity.COMMENT),
    second = ProtoExpert.new("caqm.second", "A second tag: kernels give the packet up", expert.group.MALFORMED, expert.severity.ERROR),
}
caqm.experts = { e.both, e.foreign, e.reserved, e.marked, e.short, e.snapped, e.second }

local ethertypes = DissectorTable.get("ethertype")
local data = Dissector.get("data")

-- Verdict and bytes of window, as openEuler decodes INFO.
local function meaning(cc_type, en, c, i, hint)
    if cc_type ~= p.cc_type then
        return "foreign", 0
    elseif en then
        if c and i then return "contradictory", 0 end
        if c then return "marked", -p.beta end
        if i then return "granted", hint * p.data_unit end
        return "refused", 0
    end
    if c == i then return "feedback", 0 end
    return "feedback", (c and -1 or 1) * hint * p.ack_unit
end

-- What is inside. Lua cannot hand on that a capture cut a frame: the inner dissectors would take the cut for the end and
-- count payload too short. So what is missing behind the headers becomes zeros.
local function inside(tvb, item)
    local kept, all = tvb:len() - 4, tvb:reported_len() - 4
    if all <= kept or kept < 40 or all > 0x40000 then return tvb(4):tvb() end
    item:add_proto_expert_info(e.snapped)
    local bytes = tvb(4):bytes()
    bytes:set_size(all)
    return bytes:tvb("Frame behind the CAQM tag")
end

function caqm.dissector(tvb, pinfo, tree)
    local len = tvb:len()
    local item = tree:add(caqm, tvb(0, math.min(4, len)))
    if len < 4 then
        -- The capture may have cut it; else the frame ends here.
        if tvb:reported_len() < 4 then item:add_proto_expert_info(e.short) end
        return len
    end
    local word = tvb(0, 2)
    local info = word:uint()
    local function has(bit_of) return math.floor(info / bit_of) % 2 == 1 end
    local cc_type, hint = math.floor(info / 0x2000), info % 0x100
    local en, c, i = has(0x0400), has(0x0200), has(0x0100)
    local verdict, value = meaning(cc_type, en, c, i, hint)
    item:add(f.info, word)
    for _, field in ipairs({ f.cc_type, f.last_hop, f.reserved, f.en, f.c, f.i, f.hint }) do
        item:add(field, word)
    end
    item:add(f.verdict, word, verdict):set_generated()
    item:add(f.value, word, value):set_generated()
    item:add(f.etype, tvb(2, 2))
    item:append_text(string.format(", %s, hint %d, %+d bytes", verdict, hint, value))
    if c and i and cc_type == p.cc_type then item:add_proto_expert_info(e.both) end
    if verdict == "foreign" then item:add_proto_expert_info(e.foreign) end
    if verdict == "marked" then item:add_proto_expert_info(e.marked) end
    if has(0x0800) then item:add_proto_expert_info(e.reserved) end
    local etype = tvb(2, 2):uint()
    local rest = inside(tvb, item)
    if pinfo.private.caqm then
        item:add_proto_expert_info(e.second)
        data:call(rest, pinfo, tree)
        return len
    end
    pinfo.private.caqm = "seen"
    local inner = etype >= 0x0600 and ethertypes:get_dissector(etype)
    if inner then
        inner:call(rest, pinfo, tree)
    else
        data:call(rest, pinfo, tree)
    end
    return len
end

local registered
local function register()
    if registered then ethertypes:remove(registered, caqm) end
    registered = p.ethertype >= 0x0600 and p.ethertype <= 0xffff and p.ethertype or nil
    if registered then ethertypes:add(registered, caqm) end
end
caqm.prefs_changed = register
register()
