//! Seeds of [`crate::drill_parser`].

/// Small scripts with every part of the language, shell lines and code.
pub fn drill() -> Vec<Vec<u8>> {
    const PACKETS: &str = r#"--tolerance_usecs=5000 --define=CC="reno" --mss=1000
`sysctl -q net.ipv4.tcp_sack=1; ip tcp_metrics flush all > /dev/null 2>&1`
0 < S 0:0(0) win N <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 7>
+.1~+0.2 > [ect0] SEW. 0:0(0) ack 1 win 65535 <nop,nop,sack 1:2 3:4>
* > ipv4 [ttl 9] 10.0.0.1 > 10.0.0.2: gre, flags [key present], sum 0 off 0, key = 1, seq 2: . 1:1(0)
0.5 > ipv6 fd::1 > fd::2: mpls (label 16, tc 7, [S], ttl 1): P.5 1:11(10) urg 1 <ECN e0b 1 ceb 2,nop,nop>
1 < icmp unreachable frag_needed mtu 1200 [1:1461(1460)]
1 < (tos 0x10) udp 5 > 6 (100)
1 > S 0:0(0) <FO abcdef01,nop,nop> // a comment
1 > encap psp spi 0x12 R. 1:1(0) <...> /* another */
#ifdef FreeBSD
1 < (hlim 4, class 0x20) F. 1:1(0)! win 9 <nop,nop,md5 valid>/udp(1 > 9811)
#endif
#ifdef Linux
1 < [1:1461(1460)] icmp unreachable frag_needed mtu 1200
1 > R ...(0)
#endif
"#;
    const CALLS: &str = r#"0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0...0.2 accept(3, ..., ...) = 4
+0 connect(3, {sa_family = AF_INET, sin_port = htons(80), sin_addr = inet_addr("1.2.3.4")}, 16) = -1 EINPROGRESS (go on)
+0 poll([{fd=3, events=POLLIN|POLLOUT, revents=0}], 1, 0) = 0
+0 epoll_ctl(5, EPOLL_CTL_ADD, 3, {events=EPOLLIN, u64=7}) = 0
+0 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 10}], msg_flags=0, msg_control=[{cmsg_level=1, cmsg_type=2, cmsg_data={scm_sec=0, scm_nsec=5}}]}, 0) = 1
+0 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{iov_base=..., iov_len=5}], msg_control(24)=[{cmsg_len=20, cmsg_level=1, cmsg_type=2, cmsg_data=3}], msg_flags=0}, 0) = 5
+0 setsockopt(3, IPPROTO_TCP, TCP_NOOPT, [1], 4) = 0
+0 setsockopt(4, SOL_TCP, TCP_CONGESTION, "re\x6eo" "x", 4) = 0
+0 setsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=1, linger=0}, 8) = 0
+0 f({ee_errno=1, ee_origin=2, ee_type=3, ee_code=4, ee_info=5, ee_data=6}, [S], "a"..., A = B|C, {(label 1, tc 1, ttl 1)})
 = 0x2 (flags O_RDWR)
+0 %{ assert tcpi_rtt == 25000, 'rtt=%d' % tcpi_rtt; x = 5 }%
"#;
    const SHELL: &str = "../common/defaults.sh\nsysctl -e -w net/ipv4/tcp_rmem=\"1 $((2*(3+4))) 5\" || true && \\\n\
        tc qdisc replace dev tun0 root pfifo limit 0; ethtool -K tun0 gso off # end\n\
        echo 1 > /proc/sys/net/ipv4/tcp_sack; ip route change 1.2.3.4 mtu lock 1400 &> /dev/null\n\
        ./defaults.sh; ip link set dev tun0 mtu 9000; nstat -s | grep TcpExtX | grep -q ' 3 '\n\
        grep ' 0A ' /proc/net/tcp /proc/net/tcp6 | grep ':1F90'; sysctl -w net.inet.tcp.sack.enable=1";
    const CODE: &str = "a = (1, 2.5, 'x')[0] + 7 // 2 ** 2 % 5 - ~3 << 1\n\
        if a > 1 and not None: a += -4\nelse: a = b = 2\n\
        assert 1 < tcpi_snd_cwnd <= 10 in (True, [5]) or f'{a:4d} {{x}}' != '%05.2f %s %%' % (a, \"y\"), max(1, abs(a))";
    [PACKETS, CALLS, SHELL, CODE]
        .map(|text| text.as_bytes().to_vec())
        .into()
}
