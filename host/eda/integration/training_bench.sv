// Trains on the chip through its AXI4-Lite port, and compares what it has learnt, word by word.
// ${training}: one access in a line, of 48 bits: kind (0 write, 1 read and
// compare, 2 read until the bits are zero), byte address, value.
`timescale 1ns / 1ps

module ${top}_bench;
  localparam ACCESSES = ${accesses};
  // Cycles that all of it may take.
  localparam LIMIT = ${limit};

  reg aclk = 1'b0;
  reg aresetn = 1'b0;
  always #5 aclk = ~aclk;

  reg awvalid = 1'b0, wvalid = 1'b0, bready = 1'b0, arvalid = 1'b0, rready = 1'b0;
  reg [11:0] awaddr = 12'd0, araddr = 12'd0;
  reg [31:0] wdata = 32'd0;
  wire awready, wready, bvalid, arready, rvalid;
  wire [1:0] bresp, rresp;
  wire [31:0] rdata;
${wires}
  ${top} chip (
    .aclk(aclk), .aresetn(aresetn),
    .s_axi_awvalid(awvalid), .s_axi_awready(awready), .s_axi_awaddr(awaddr), .s_axi_awprot(3'd0),
    .s_axi_wvalid(wvalid), .s_axi_wready(wready), .s_axi_wdata(wdata), .s_axi_wstrb(4'hf),
    .s_axi_bvalid(bvalid), .s_axi_bready(bready), .s_axi_bresp(bresp),
    .s_axi_arvalid(arvalid), .s_axi_arready(arready), .s_axi_araddr(araddr), .s_axi_arprot(3'd0),
    .s_axi_rvalid(rvalid), .s_axi_rready(rready), .s_axi_rdata(rdata), .s_axi_rresp(rresp)${ports}
  );
${memories}
  task put(input [11:0] address, input [31:0] value);
    reg done;
    begin
      awaddr <= address;
      wdata <= value;
      awvalid <= 1'b1;
      wvalid <= 1'b1;
      bready <= 1'b1;
      done = 1'b0;
      while (!done) begin
        @(posedge aclk);
        if (awready) awvalid <= 1'b0;
        if (wready) wvalid <= 1'b0;
        done = bvalid;
      end
      bready <= 1'b0;
      if (bresp !== 2'd0) $$fatal(1, "FAIL: write of %h to %h was refused", value, address);
    end
  endtask

  task get(input [11:0] address, output [31:0] value);
    reg done;
    begin
      araddr <= address;
      arvalid <= 1'b1;
      rready <= 1'b1;
      done = 1'b0;
      while (!done) begin
        @(posedge aclk);
        if (arready) arvalid <= 1'b0;
        done = rvalid;
      end
      rready <= 1'b0;
      value = rdata;
      if (rresp !== 2'd0) $$fatal(1, "FAIL: read of %h was refused", address);
    end
  endtask

  reg [47:0] accesses [0:ACCESSES-1];
  integer index;
  integer compared = 0;
  integer cycles = 0;
  reg [31:0] found;

  initial begin
    $$readmemh("${training}", accesses);
    repeat (4) @(posedge aclk);
    aresetn <= 1'b1;
    for (index = 0; index < ACCESSES; index = index + 1)
      case (accesses[index][47:44])
        4'd0: put(accesses[index][43:32], accesses[index][31:0]);
        4'd1: begin
          get(accesses[index][43:32], found);
          compared = compared + 1;
          if (found !== accesses[index][31:0])
            $$fatal(1, "FAIL: access %0d: register %h reads %h, expected %h", index,
                   accesses[index][43:32], found, accesses[index][31:0]);
        end
        4'd2: begin
          get(accesses[index][43:32], found);
          while ((found & accesses[index][31:0]) !== 32'd0) get(accesses[index][43:32], found);
        end
        default: $$fatal(1, "FAIL: access %0d of ${training} is %h", index, accesses[index]);
      endcase
    $$display("PASS: %0d reads as expected, %0d cycles", compared, cycles);
    $$finish;
  end

  always @(posedge aclk) begin
    cycles <= cycles + 1;
    if (cycles == LIMIT) $$fatal(1, "FAIL: not done after %0d cycles", LIMIT);
  end
endmodule
